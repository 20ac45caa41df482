// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/instance.h"

#include <c10/core/InferenceMode.h>

#include <optional>

#include "backends/pytorch/modes.h"
#include "backends/pytorch/tensor_io.h"
#include "backends/pytorch/threads.h"
#include "backends/pytorch/torch_error.h"
#include "backends/sdk/loan.h"
#include "backends/sdk/log.h"

namespace nereid_backend {

TorchInstance::TorchInstance(TRITONBACKEND_ModelInstance* handle, const TorchModel& model,
                             std::shared_ptr<const Network> network)
    : handle_(handle),
      model_(model),
      network_(std::move(network)),
      // Without copies, the shared network could keep a view of a request's memory, and another
      // instance could read that memory while it is freed.
      copies_inputs_(model.shares_network() && network_->traits().writes_attributes),
      executor_(model.bound(), GraphExecutor::Outputs::kInOwnMemory) {
  model_.CountInstance(1);
}

TorchInstance::~TorchInstance() { model_.CountInstance(-1); }

Result<std::unique_ptr<TorchInstance>> TorchInstance::Create(TRITONBACKEND_ModelInstance* handle,
                                                             const TorchModel& model) {
  NB_ASSIGN_OR_RETURN(std::shared_ptr<const Network> network, model.NetworkForInstance());
  return std::unique_ptr<TorchInstance>(new TorchInstance(handle, model, std::move(network)));
}

Error TorchInstance::Execute(Batch* batch) {
  executor_.Begin(batch);
  while (executor_.Next()) {
    executor_.End(TorchTry("PyTorch execute failure: ", [&] { return Compute(); }));
    NB_RETURN_IF_ERROR(LetGo());
  }
  return Error();
}

Error TorchInstance::Compute() {
  const Modes modes(model_.parameters());
  std::vector<c10::IValue> arguments = MakeArguments();
  std::optional<CpuPermits::Held> held;
  // A thread that serves connections must not wait. Its run is short, so the CPUs may be one thread
  // over their number meanwhile.
  if (!OnLoan(handle_)) held.emplace(model_.environment().permits(), model_.RunPermits());
  UseIntraOpThreads(model_.RunThreads());
  executor_.batch().MarkComputeStart();
  results_ = network_->Run(std::move(arguments));
  executor_.batch().MarkComputeEnd();
  held.reset();
  return TakeOutputs();
}

std::vector<c10::IValue> TorchInstance::MakeArguments() {
  const Forward& forward = network_->forward();
  if (forward.takes_dictionary) {
    c10::Dict<std::string, at::Tensor> dictionary;
    for (RunInput& input : executor_.inputs()) {
      dictionary.insert(input.tensor->name, MakeInput(&input, 0).toTensor());
    }
    return {dictionary};
  }
  std::vector<c10::IValue> arguments(forward.arguments.size());
  for (RunInput& input : executor_.inputs()) {
    const size_t argument = model_.input_places()[input.index].index;
    arguments[argument] = MakeInput(&input, argument);
  }
  return arguments;
}

c10::IValue TorchInstance::MakeInput(RunInput* input, size_t argument) {
  if (input->tensor->element_size == 0) return ListInput(*input);
  const std::vector<bool>& written = network_->traits().writes_argument;
  // A network that writes to its argument must not write to the request's data.
  if (copies_inputs_ || (argument < written.size() && written[argument])) return CopyInput(*input);
  views_.push_back(ViewInput(input));
  return views_.back();
}

Error TorchInstance::TakeOutputs() {
  kept_.resize(executor_.outputs().size());
  for (size_t k = 0; k < executor_.outputs().size(); ++k) {
    RunOutput& output = executor_.outputs()[k];
    NB_ASSIGN_OR_RETURN(const c10::IValue value, FindResult(model_.output_places()[output.index]));
    NB_RETURN_IF_ERROR(TakeOutput(value, &output, &kept_[k]));
  }
  return Error();
}

Result<c10::IValue> TorchInstance::FindResult(const Named& place) const {
  if (network_->forward().gives_dictionary) {
    const c10::impl::GenericDict dictionary = results_.at(0).toGenericDict();
    const auto found = dictionary.find(place.name);
    if (found != dictionary.end()) return c10::IValue(found->value());
    std::string keys;
    for (const auto& entry : dictionary) {
      keys += (keys.empty() ? "" : ", ") + std::string(entry.key().toStringView());
    }
    return Error::InvalidArg(
        StrCat("output '", place.name,
               "' is not in the dictionary that the model gives, which has: ", keys));
  }
  if (place.index < results_.size()) return results_[place.index];
  return Error::InvalidArg(StrCat("The output ", place.name,
                                  " in the model configuration refers to an output index which "
                                  "doesn't exist. This model has ",
                                  results_.size(), " outputs"));
}

Error TorchInstance::LetGo() {
  // Results may be views of inputs.
  results_.clear();
  kept_.clear();
  Error failure;
  for (at::Tensor& view : views_) {
    Error error = TorchTry("failed to take an input back from the model: ", [&]() -> Error {
      nereid_backend::LetGo(&view);
      return Error();
    });
    if (!error.ok()) failure = std::move(error);
  }
  views_.clear();
  return failure;
}

}  // namespace nereid_backend
