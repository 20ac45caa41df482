// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_model.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "base/status_macros.h"

namespace nereid {
namespace {

absl::Status WrongParameter(const CompiledModel& config, const char* name, absl::string_view value,
                            absl::string_view right) {
  return absl::InvalidArgumentError(absl::StrCat("the parameter '", name, "' of model '",
                                                 config.name, "' is '", value, "', but should be ",
                                                 right));
}

const std::string* FindParameter(const CompiledModel& config, const char* name) {
  const auto found = config.parameters.find(name);
  return found == config.parameters.end() ? nullptr : &found->second;
}

const InputSpec* FindInputOf(const CompiledModel& config, absl::string_view name, DataType type) {
  const int index = config.FindInput(name);
  if (index < 0) return nullptr;
  const InputSpec& input = config.inputs[static_cast<size_t>(index)];
  return input.data_type == type && TakesOneElement(input.dims) ? &input : nullptr;
}

const OutputSpec* FindOutputOf(const CompiledModel& config, absl::string_view name, DataType type) {
  const int index = config.FindOutput(name);
  if (index < 0) return nullptr;
  const OutputSpec& output = config.outputs[static_cast<size_t>(index)];
  return output.data_type == type ? &output : nullptr;
}

// The input that `parameter` names, or the one with the usual name.
absl::StatusOr<const InputSpec*> InputFor(const CompiledModel& config, const char* parameter,
                                          const char* usual) {
  const std::string* const name = FindParameter(config, parameter);
  if (name == nullptr) return FindInputOf(config, usual, DataType::kBytes);
  if (const InputSpec* input = FindInputOf(config, *name, DataType::kBytes)) return input;
  return WrongParameter(config, parameter, *name,
                        "the name of an input of type BYTES that can have a single element");
}

absl::StatusOr<const OutputSpec*> OutputFor(const CompiledModel& config, const char* parameter,
                                            const char* usual, DataType type) {
  const std::string* const name = FindParameter(config, parameter);
  if (name == nullptr) return usual == nullptr ? nullptr : FindOutputOf(config, usual, type);
  if (const OutputSpec* output = FindOutputOf(config, *name, type)) return output;
  return WrongParameter(config, parameter, *name,
                        absl::StrCat("the name of an output of type ", DataTypeName(type)));
}

// Whether requests can be complete without inputs that nobody fills. The inputs of single sampling
// fields count as filled: a request that lacks one is refused by name.
bool CanFill(const CompiledModel& config, const OpenAiModel& model, const InputSpec* text) {
  return std::all_of(config.inputs.begin(), config.inputs.end(), [&](const InputSpec& input) {
    if (input.optional || &input == text) return true;
    if (&input == model.text_input || &input == model.messages) return false;
    return model.Fills(&input) || input.name == "max_tokens";
  });
}

}  // namespace

bool TakesOneElement(const Shape& dims) {
  return std::all_of(dims.begin(), dims.end(),
                     [](int64_t dim) { return dim == 1 || dim == kVariableDim; });
}

bool OpenAiModel::Takes(absl::string_view field) const {
  return std::binary_search(takes.begin(), takes.end(), field);
}

bool OpenAiModel::Fills(const InputSpec* input) const {
  for (const InputSpec* filled :
       {text_input, messages, stream, sampling_parameters, exclude_input, return_num_input_tokens,
        return_num_output_tokens, return_finish_reason, return_logprobs}) {
    if (filled == input) return true;
  }
  return false;
}

absl::StatusOr<OpenAiModel> OpenAiModel::Of(const CompiledModel& config) {
  OpenAiModel model;
  ASSIGN_OR_RETURN(model.text_input, InputFor(config, kOpenAiTextInput, "text_input"));
  ASSIGN_OR_RETURN(model.messages, InputFor(config, kOpenAiMessages, "messages"));
  ASSIGN_OR_RETURN(model.text_output,
                   OutputFor(config, kOpenAiTextOutput, "text_output", DataType::kBytes));
  ASSIGN_OR_RETURN(model.embeddings_output,
                   OutputFor(config, kOpenAiEmbeddings, nullptr, DataType::kFp32));
  const auto flag = [&config](const char* name) {
    return FindInputOf(config, name, DataType::kBool);
  };
  model.stream = flag("stream");
  model.exclude_input = flag("exclude_input_in_output");
  model.return_num_input_tokens = flag("return_num_input_tokens");
  model.return_num_output_tokens = flag("return_num_output_tokens");
  model.return_finish_reason = flag("return_finish_reason");
  model.return_logprobs = flag("return_logprobs");
  model.logprobs = FindOutputOf(config, "logprobs", DataType::kBytes);
  model.sampling_parameters = FindInputOf(config, "sampling_parameters", DataType::kBytes);
  if (const std::string* name = FindParameter(config, kOpenAiChatTemplate)) {
    model.chat_format = FindChatFormat(*name);
    if (model.chat_format == nullptr) {
      return WrongParameter(config, kOpenAiChatTemplate, *name, ChatFormatNames());
    }
  }
  if (const std::string* fields = FindParameter(config, kOpenAiTakes)) {
    for (const absl::string_view field : absl::StrSplit(*fields, ',')) {
      model.takes.emplace_back(absl::StripAsciiWhitespace(field));
    }
    std::sort(model.takes.begin(), model.takes.end());
  }
  const bool fills_text = model.text_input != nullptr && CanFill(config, model, model.text_input);
  if (model.text_output != nullptr && model.embeddings_output == nullptr) {
    model.completions = fills_text;
    model.chat = model.messages != nullptr ? CanFill(config, model, model.messages)
                                           : fills_text && model.chat_format != nullptr;
  }
  model.embeddings = model.embeddings_output != nullptr && fills_text && !config.decoupled;
  return model;
}

}  // namespace nereid
