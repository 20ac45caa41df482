// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker/runner.h"

#include <pthread.h>
#include <tensorflow/c/tf_tstring.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string_view>

#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/worker/tf_handles.h"

namespace nereid_tensorflow {
namespace {

// --- Tensors in a channel's memory as TensorFlow's, and back.

// Deallocators of TF_NewTensor.
void Unmap(void*, size_t, void* argument) {
  delete static_cast<std::shared_ptr<Mapping>*>(argument);
}
void FreeStrings(void* data, size_t size, void*) {
  auto* const strings = static_cast<TF_TString*>(data);
  for (size_t i = 0; i < size / sizeof(TF_TString); ++i) TF_StringDealloc(&strings[i]);
  std::free(data);
}

// Number of elements, or -1 if that many cannot exist.
int64_t CountElements(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  }
  return count;
}

size_t CountElements(const TF_Tensor* tensor) {
  size_t count = 1;
  for (int i = 0; i < TF_NumDims(tensor); ++i) count *= static_cast<size_t>(TF_Dim(tensor, i));
  return count;
}

Status BadInput(const PlacedTensor& placed) {
  return Status::Internal("input " + std::to_string(placed.index) +
                          " has a size that its shape does not have");
}

Status MakeStrings(const PlacedTensor& placed, int64_t count, std::string_view wire,
                   TfTensor* tensor) {
  // Each element has at least its 4-byte length.
  if (static_cast<uint64_t>(count) > wire.size() / sizeof(uint32_t)) return BadInput(placed);
  const size_t size = static_cast<size_t>(count) * sizeof(TF_TString);
  const size_t rounded = (size + kTensorAlignment) / kTensorAlignment * kTensorAlignment;
  auto* const strings = static_cast<TF_TString*>(std::aligned_alloc(kTensorAlignment, rounded));
  if (strings == nullptr) return Status::Unavailable("out of memory");
  for (int64_t i = 0; i < count; ++i) TF_StringInit(&strings[i]);
  // From here on, the tensor frees the strings.
  tensor->reset(TF_NewTensor(TF_STRING, placed.dims.data(), static_cast<int>(placed.dims.size()),
                             strings, size, &FreeStrings, nullptr));
  if (*tensor == nullptr) return BadInput(placed);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t length = 0;
    if (wire.size() < sizeof(length)) return BadInput(placed);
    std::memcpy(&length, wire.data(), sizeof(length));
    wire.remove_prefix(sizeof(length));
    if (wire.size() < length) return BadInput(placed);
    TF_StringCopy(&strings[i], wire.data(), length);
    wire.remove_prefix(length);
  }
  return {};
}

// The input `placed` of `type` over the memory of `data`, which it keeps mapped for as long as it
// lives; strings, and all types if `copy`, get separate memory.
Status MakeTensor(const PlacedTensor& placed, TF_DataType type,
                  const std::shared_ptr<Mapping>& data, bool copy, TfTensor* tensor) {
  const int64_t count = CountElements(placed.dims);
  if (count < 0 || placed.offset > data->size() || placed.size > data->size() - placed.offset ||
      placed.offset % kTensorAlignment != 0) {
    return BadInput(placed);
  }
  char* const bytes = data->data() + placed.offset;
  if (type == TF_STRING) return MakeStrings(placed, count, {bytes, placed.size}, tensor);
  uint64_t size = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), TF_DataTypeSize(type), &size) ||
      size != placed.size) {
    return BadInput(placed);
  }
  const int rank = static_cast<int>(placed.dims.size());
  if (copy) {
    tensor->reset(TF_AllocateTensor(type, placed.dims.data(), rank, placed.size));
    if (*tensor == nullptr) return Status::Unavailable("out of memory");
    std::memcpy(TF_TensorData(tensor->get()), bytes, placed.size);
    return {};
  }
  tensor->reset(TF_NewTensor(type, placed.dims.data(), rank, bytes, placed.size, &Unmap,
                             new std::shared_ptr<Mapping>(data)));
  return *tensor == nullptr ? BadInput(placed) : Status();
}

// Dims, type and size of `tensor` in the format of a channel's memory.
PlacedTensor DescribeTensor(const TF_Tensor* tensor) {
  PlacedTensor placed;
  placed.type = TF_TensorType(tensor);
  for (int i = 0; i < TF_NumDims(tensor); ++i) placed.dims.push_back(TF_Dim(tensor, i));
  if (placed.type != TF_STRING) {
    placed.size = TF_TensorByteSize(tensor);
    return placed;
  }
  const auto* const strings = static_cast<const TF_TString*>(TF_TensorData(tensor));
  const size_t count = CountElements(tensor);
  for (size_t i = 0; i < count; ++i) {
    placed.size += sizeof(uint32_t) + TF_StringGetSize(&strings[i]);
  }
  return placed;
}

// Writes the bytes that DescribeTensor counted.
void CopyTensor(const TF_Tensor* tensor, char* destination) {
  if (TF_TensorType(tensor) != TF_STRING) {
    const size_t size = TF_TensorByteSize(tensor);
    if (size > 0) std::memcpy(destination, TF_TensorData(tensor), size);
    return;
  }
  const auto* const strings = static_cast<const TF_TString*>(TF_TensorData(tensor));
  const size_t count = CountElements(tensor);
  for (size_t i = 0; i < count; ++i) {
    const auto length = static_cast<uint32_t>(TF_StringGetSize(&strings[i]));
    std::memcpy(destination, &length, sizeof(length));
    destination += sizeof(length);
    if (length > 0) std::memcpy(destination, TF_StringGetDataPointer(&strings[i]), length);
    destination += length;
  }
}

}  // namespace

Runner::Runner(const LoadedModel& model, std::unique_ptr<ChannelMemory> memory)
    : model_(model), memory_(std::move(memory)), thread_([this] { Loop(); }) {}

Runner::~Runner() {
  memory_->header()->turn.Close();
  thread_.join();
}

void Runner::Loop() {
  pthread_setname_np(pthread_self(), "tf-run");
  Turn& turn = memory_->header()->turn;
  while (turn.WaitWhile(Turn::kServer) == Turn::kWorker) {
    Serve();
    turn.Pass(Turn::kWorker, Turn::kServer);
  }
}

void Runner::Serve() {
  uint64_t end = 0;
  RunReply failed;
  std::string reply;
  memory_->header()->compute_start_ns = memory_->header()->compute_end_ns = 0;
  try {
    failed.status = memory_->Refresh();
    RunRequest request;
    if (failed.status.ok() && !RunRequest::Unpack(memory_->message(), &request)) {
      failed.status = Status::Internal("a message of the server is damaged");
    }
    if (failed.status.ok()) {
      // Unpack has copied the request, so the reply may overwrite it in the memory.
      end = request.outputs_offset;
      failed.status = Compute(request, &end, &reply);
    }
  } catch (const std::bad_alloc&) {
    failed.status = Status::Unavailable("out of memory");
  } catch (const std::exception& error) {
    failed.status = Status::Internal(error.what());
  }
  if (!failed.status.ok()) reply = failed.Pack();
  // If there is no room for the reply, an empty reply reports that.
  if (!memory_->PutMessage(AlignUp(end), reply).ok()) memory_->header()->message_size = 0;
}

Status Runner::MakeInputs(const RunRequest& request, std::vector<uint32_t>* indices,
                          std::vector<TfTensor>* tensors) {
  for (const PlacedTensor& placed : request.inputs) {
    if (placed.index >= model_.input_count()) return Status::Internal("there is no such input");
    indices->push_back(placed.index);
    tensors->emplace_back();
    Status made = MakeTensor(placed, model_.input_type(placed.index), memory_->data_mapping(),
                             copy_inputs_, &tensors->back());
    if (!made.ok()) return made;
  }
  return {};
}

Status Runner::Compute(const RunRequest& request, uint64_t* end, std::string* reply) {
  for (const uint32_t index : request.outputs) {
    if (index >= model_.output_count()) return Status::Internal("there is no such output");
  }
  const std::shared_ptr<Mapping> shared = memory_->data_mapping();
  std::vector<TfTensor> outputs;
  Status ran;
  {
    std::vector<uint32_t> indices;
    std::vector<TfTensor> inputs;
    ran = MakeInputs(request, &indices, &inputs);
    if (!ran.ok()) return ran;
    ComputeTimes times;
    ran = model_.Run(indices, inputs, request.outputs, &outputs, &times);
    memory_->header()->compute_start_ns = times.start_ns;
    memory_->header()->compute_end_ns = times.end_ns;
  }
  RunReply placed;
  if (ran.ok()) ran = PlaceOutputs(request, outputs, end, &placed);
  outputs.clear();  // an output may be one of the inputs
  // Now that the inputs are released, only the model can hold another reference, for instance in a
  // queue.
  if (shared.use_count() > (shared == memory_->data_mapping() ? 2 : 1)) {
    copy_inputs_ = true;
    Status detached = memory_->Detach(shared, request.outputs_offset);
    if (!detached.ok()) return detached;
  }
  if (ran.ok()) *reply = placed.Pack();
  return ran;
}

Status Runner::PlaceOutputs(const RunRequest& request, const std::vector<TfTensor>& outputs,
                            uint64_t* end, RunReply* reply) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    PlacedTensor placed = DescribeTensor(outputs[k].get());
    placed.index = request.outputs[k];
    placed.offset = AlignUp(*end);
    *end = placed.offset + placed.size;
    reply->outputs.push_back(std::move(placed));
  }
  Status reserved = memory_->Reserve(*end);
  if (!reserved.ok()) return reserved;
  for (size_t k = 0; k < outputs.size(); ++k) {
    CopyTensor(outputs[k].get(), memory_->data() + reply->outputs[k].offset);
  }
  return {};
}

}  // namespace nereid_tensorflow
