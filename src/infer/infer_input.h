// SPDX-License-Identifier: Apache-2.0
// InferInput: one input tensor of a request; also what a TRITONBACKEND_Input* points to.
// Thread-compatible; constant while its request is in flight.
#ifndef NEREID_INFER_INFER_INPUT_H_
#define NEREID_INFER_INFER_INPUT_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <forward_list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/export.h"
#include "c_objects/buffer_attributes.h"
#include "memory/file_memory.h"
#include "model/data_type.h"
#include "model/memory_kind.h"
#include "model/shape.h"

namespace nereid {

class ServingModel;

// A contiguous piece of a tensor. Not owned: lies in a frontend's receive buffer or in the
// application's memory, which outlives the request's flight.
struct InputBuffer {
  const void* base = nullptr;
  uint64_t byte_size = 0;
  MemoryPlace place;
  const FileMemory* file = nullptr;  // that holds the piece; null: other processes cannot map it
  const CudaIpcHandle* ipc_handle = nullptr;  // of the piece's allocation on a GPU; null: unknown
};
using InputBuffers = absl::InlinedVector<InputBuffer, 1>;

class NEREID_API InferInput {
 public:
  // `shape` is the full shape as sent, batch dimension included.
  InferInput(std::string name, DataType data_type, absl::Span<const int64_t> shape)
      : name_(std::move(name)), data_type_(data_type), sent_shape_(shape.begin(), shape.end()) {}
  InferInput(InferInput&&) = default;
  InferInput& operator=(InferInput&&) = default;

  const std::string& name() const { return name_; }
  DataType data_type() const { return data_type_; }
  const Shape& sent_shape() const { return sent_shape_; }
  // The shape that the backend sees: batch dimension and, where configured, the reshape.
  // REQUIRES: the request was prepared.
  const Shape& shape() const { return shape_; }
  // For an input that the core adds to a prepared request.
  void set_shape(const Shape& shape) { shape_ = shape; }

  const InputBuffers& buffers() const { return buffers_; }
  uint64_t byte_size() const { return byte_size_; }
  void AppendBuffer(const InputBuffer& buffer) {
    if (buffer.byte_size == 0) return;
    Separate();
    buffers_.push_back(buffer);
    byte_size_ += buffer.byte_size;
    on_gpu_ |= buffer.place.type == MemoryType::kGpu;
    attributes_.reset();  // they describe the pieces before this one only
  }
  void RemoveAllBuffers();
  // Keeps a handle for pieces, which may point to it until RemoveAllBuffers.
  const CudaIpcHandle* KeepHandle(const CudaIpcHandle& handle);

  // The buffers for instances with that host policy; the plain buffers if there are none.
  const InputBuffers& BuffersFor(const char* host_policy) const;
  void AppendBufferFor(const std::string& host_policy, const InputBuffer& buffer);
  bool has_policy_buffers() const { return policy_buffers_ != nullptr; }

  // ---- Pieces in memory of GPUs.
  // Whether there is one.
  bool on_gpu() const { return on_gpu_; }
  // A flight of a request to `model`, which keeps it, begins: earlier copies are out of date.
  void BeginReading(const ServingModel* model);
  // One of the pieces, for a reader that computes on CPUs: a piece on a GPU is copied, for this
  // flight, when first asked for. UNAVAILABLE if its GPU has failed, INVALID_ARGUMENT if BYTES,
  // which nobody could check before, have the wrong form. Blocks. REQUIRES: BeginReading.
  absl::StatusOr<InputBuffer> OnHost(const InputBuffer& piece);
  // Remembers that a trace is still to be told of the tensor as it was sent; and whether it is,
  // once.
  void TraceLater() { trace_later_ = true; }
  bool TakeTraceLater() { return std::exchange(trace_later_, false); }

  // Description of piece `index`, owned by the input; null past the last piece.
  TRITONSERVER_BufferAttributes* AttributesOf(uint32_t index);

  // Makes the tensor one contiguous piece in CPU memory; copies if it had several pieces. Returns
  // the number of bytes copied.
  uint64_t Coalesce();
  // Undoes Coalesce: restores the pieces as they were appended. In a request that is issued anew
  // their bytes may have changed.
  void Separate();

 private:
  friend class RequestValidator;
  absl::Status CheckStrings(const char* bytes, uint64_t byte_size) const;

  std::string name_;
  DataType data_type_;
  Shape sent_shape_;
  Shape shape_;
  InputBuffers buffers_;
  uint64_t byte_size_ = 0;
  std::unique_ptr<char[]> coalesced_;
  std::unique_ptr<InputBuffers> pieces_;  // the pieces before Coalesce; null unless joined
  std::unique_ptr<TRITONSERVER_BufferAttributes[]> attributes_;          // made when asked for
  std::unique_ptr<std::map<std::string, InputBuffers>> policy_buffers_;  // rare
  std::unique_ptr<std::forward_list<CudaIpcHandle>> handles_;            // rare
  bool on_gpu_ = false;
  bool trace_later_ = false;
  const ServingModel* reader_ = nullptr;  // set if on_gpu_
  // By the addresses of pieces on GPUs; null: none yet.
  std::unique_ptr<std::map<const void*, std::unique_ptr<char[]>>> on_host_;
};

}  // namespace nereid

#endif  // NEREID_INFER_INFER_INPUT_H_
