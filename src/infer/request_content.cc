// SPDX-License-Identifier: Apache-2.0
#include "infer/request_content.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace nereid {

std::string RequestContent::LogPrefix() const {
  return absl::StrCat("[request id: ", id_.empty() ? "<id_unknown>" : id_, "] ");
}

absl::Status RequestContent::RepeatedName(absl::string_view kind, absl::string_view name) const {
  return absl::InvalidArgumentError(
      absl::StrCat(LogPrefix(), kind, " '", name, "' already exists in request"));
}

absl::StatusOr<InferInput*> RequestContent::AddInput(std::string name, DataType type,
                                                     absl::Span<const int64_t> shape) {
  const size_t compared = std::min(inputs_.size(), model_->config().inputs.size() + 1);
  for (size_t i = 0; i < compared; ++i) {
    if (inputs_[i].name() == name) return RepeatedName("input", name);
  }
  inputs_may_repeat_ = inputs_may_repeat_ || compared < inputs_.size();
  inputs_.emplace_back(std::move(name), type, shape);
  return &inputs_.back();
}

absl::StatusOr<InferInput*> RequestContent::AddRawInput(std::string name) {
  if (!inputs_.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        LogPrefix(), "raw input '", name, "' can't be added to request with other inputs"));
  }
  raw_input_ = true;
  inputs_.emplace_back(std::move(name), DataType::kInvalid, absl::Span<const int64_t>());
  return &inputs_.back();
}

absl::Status RequestContent::RemoveInput(absl::string_view name) {
  const auto it = std::find_if(inputs_.begin(), inputs_.end(),
                               [&](const InferInput& input) { return input.name() == name; });
  if (it == inputs_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(LogPrefix(), "input '", name, "' does not exist in request"));
  }
  inputs_.erase(it);
  raw_input_ = false;
  return absl::OkStatus();
}

void RequestContent::RemoveAllInputs() {
  inputs_.clear();
  unkept_inputs_ = 0;
  inputs_may_repeat_ = false;
  raw_input_ = false;
}

InferInput* RequestContent::FindInput(absl::string_view name) {
  for (InferInput& input : inputs_) {
    if (input.name() == name) return &input;
  }
  return nullptr;
}

InferInput* RequestContent::FindBackendInput(absl::string_view name) {
  for (InferInput& input : override_inputs_) {
    if (input.name() == name) return &input;
  }
  return FindInput(name);
}

void RequestContent::AddOverrideInput(InferInput input) {
  for (InferInput& present : override_inputs_) {
    if (present.name() != input.name()) continue;
    present = std::move(input);
    return;
  }
  override_inputs_.push_back(std::move(input));
}

absl::Status RequestContent::AddRequestedOutput(std::string name) {
  const size_t compared = std::min(asked_outputs_.size(), model_->config().outputs.size() + 1);
  for (size_t i = 0; i < compared; ++i) {
    if (asked_outputs_[i] == name) return RepeatedName("output", name);
  }
  outputs_may_repeat_ = outputs_may_repeat_ || compared < asked_outputs_.size();
  asked_outputs_.push_back(std::move(name));
  return absl::OkStatus();
}

void RequestContent::RemoveRequestedOutput(absl::string_view name) {
  asked_outputs_.erase(std::remove(asked_outputs_.begin(), asked_outputs_.end(), name),
                       asked_outputs_.end());
}

void RequestContent::RemoveAllRequestedOutputs() {
  asked_outputs_.clear();
  outputs_may_repeat_ = false;
}

size_t RequestContent::output_count() const {
  return asked_outputs_.empty() ? model_->config().outputs.size() : asked_outputs_.size();
}

const std::string& RequestContent::output_name(size_t index) const {
  return asked_outputs_.empty() ? model_->config().outputs[index].name : asked_outputs_[index];
}

bool RequestContent::WantsOutput(absl::string_view name) const {
  return asked_outputs_.empty() ||
         std::find(asked_outputs_.begin(), asked_outputs_.end(), name) != asked_outputs_.end();
}

}  // namespace nereid
