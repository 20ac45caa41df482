#include "backends/tensorflow/worker/tensors.h"

#include <tensorflow/c/tf_tstring.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace nereid_tensorflow {
namespace {

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

}  // namespace

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

}  // namespace nereid_tensorflow
