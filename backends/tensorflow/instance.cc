// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/instance.h"

#include "backends/sdk/loan.h"
#include "backends/tensorflow/data_types.h"
#include "backends/tensorflow/signature.h"

namespace nereid_backend {
namespace {

using nereid_tensorflow::AlignUp;
using nereid_tensorflow::PlacedTensor;

uint64_t SizeOf(const RunInput& input) {
  if (input.tensor->element_size > 0) return input.byte_size;
  uint64_t size = 0;
  for (const std::string_view element : input.elements) size += BytesWireSize(element);
  return size;
}

void Write(const RunInput& input, char* destination) {
  CopyPieces(input.pieces, destination);
  for (const std::string_view element : input.elements) {
    destination = WriteBytes(element, destination);
  }
}

// The worker's messages are checked, because a fault of the runtime may have damaged them.
Error TakeOutput(const PlacedTensor& placed, const char* data, RunOutput* output) {
  const BoundTensor& tensor = *output->tensor;
  const TRITONSERVER_DataType type = FromTensorflowType(placed.type);
  if (type != tensor.type) {
    return Error::Internal(StrCat("output '", tensor.name, "' is expected to have the type ",
                                  TRITONSERVER_DataTypeString(tensor.type), ", the model gave ",
                                  TensorflowTypeName(placed.type)));
  }
  output->shape = placed.dims;
  const int64_t count = ElementCount(placed.dims.data(), placed.dims.size());
  if (count >= 0 && tensor.element_size == 0) {
    output->elements.clear();
    return ParseBytes({data + placed.offset, placed.size}, static_cast<size_t>(count),
                      &output->elements);
  }
  if (count < 0 || static_cast<uint64_t>(count) != placed.size / tensor.element_size) {
    return Error::Internal(StrCat("output '", tensor.name, "' has ", placed.size,
                                  " bytes, which its shape ", ShapeToString(placed.dims),
                                  " does not need"));
  }
  output->data = data + placed.offset;
  return Error();
}

}  // namespace

TensorflowInstance::TensorflowInstance(TRITONBACKEND_ModelInstance* handle,
                                       const TensorflowModel& model)
    : handle_(handle),
      model_(model),
      executor_(model.bound(), GraphExecutor::Outputs::kInOwnMemory) {
  const nereid_tensorflow::LoadReply& loaded = model.supervisor().loaded();
  for (const BoundTensor& input : model.bound().inputs()) {
    input_numbers_.push_back(IndexOf(loaded.inputs, input.name));
  }
  for (const ComputedInput& input : model.bound().computed_inputs()) {
    input_numbers_.push_back(IndexOf(loaded.inputs, input.tensor.name));
  }
  for (const BoundTensor& output : model.bound().outputs()) {
    output_numbers_.push_back(IndexOf(loaded.outputs, output.name));
  }
}

Result<std::unique_ptr<TensorflowInstance>> TensorflowInstance::Create(
    TRITONBACKEND_ModelInstance* handle, const TensorflowModel& model) {
  std::unique_ptr<TensorflowInstance> instance(new TensorflowInstance(handle, model));
  NB_RETURN_IF_ERROR(instance->Connect());
  return instance;
}

Error TensorflowInstance::Connect() {
  if (channel_ != nullptr && channel_->usable()) return Error();
  // Only if the worker ended after the server had lent the instance.
  if (channel_ != nullptr && OnLoan(handle_)) return channel_->End();
  channel_.reset();
  // Before the channel is opened, since its worker may end at any time.
  SetLendable(handle_, true);
  Result<std::unique_ptr<Channel>> opened =
      model_.supervisor().OpenChannel([handle = handle_] { SetLendable(handle, false); });
  if (!opened.ok()) {
    SetLendable(handle_, false);
    return std::move(opened.error());
  }
  channel_ = std::move(*opened);
  return Error();
}

Error TensorflowInstance::Execute(Batch* batch) {
  NB_RETURN_IF_ERROR(Connect());
  executor_.Begin(batch);
  while (executor_.Next()) executor_.End(Compute());
  return Error();
}

Error TensorflowInstance::Compute() {
  if (executor_.outputs().empty()) return Error();  // no output is requested
  // An earlier run of the same batch may have ended the worker.
  NB_RETURN_IF_ERROR(Connect());
  NB_RETURN_IF_ERROR(PlaceInputs());
  request_.outputs.clear();
  for (const RunOutput& output : executor_.outputs()) {
    request_.outputs.push_back(output_numbers_[output.index]);
  }
  const Error ran = channel_->Run(request_, &reply_);
  if (channel_->compute_start() > 0) {
    executor_.batch().MarkComputed(channel_->compute_start(), channel_->compute_end());
  }
  if (!ran.ok()) return Error(ran.code(), ran.message());
  return TakeOutputs();
}

Error TensorflowInstance::PlaceInputs() {
  request_.inputs.clear();
  uint64_t end = 0;
  for (const RunInput& input : executor_.inputs()) {
    PlacedTensor placed;
    placed.index = input_numbers_[input.index];
    placed.dims = input.shape;
    placed.offset = end;
    placed.size = SizeOf(input);
    end = AlignUp(placed.offset + placed.size);
    request_.inputs.push_back(std::move(placed));
  }
  request_.outputs_offset = end;
  NB_ASSIGN_OR_RETURN(char* const memory, channel_->Reserve(end));
  for (size_t k = 0; k < request_.inputs.size(); ++k) {
    Write(executor_.inputs()[k], memory + request_.inputs[k].offset);
  }
  return Error();
}

Error TensorflowInstance::TakeOutputs() {
  const std::span<RunOutput> outputs = executor_.outputs();
  if (reply_.outputs.size() != outputs.size()) {
    return Error::Internal("an answer of the TensorFlow process is damaged");
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    NB_RETURN_IF_ERROR(TakeOutput(reply_.outputs[k], channel_->data(), &outputs[k]));
  }
  return Error();
}

}  // namespace nereid_backend
