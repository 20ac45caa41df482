// SPDX-License-Identifier: Apache-2.0
// SequenceStates: the tensors that one sequence carries from request to request ("implicit
// state"). SequenceState: one of them; also what a TRITONBACKEND_State* points to.
//
// The model reads the state as an input and writes the next one into a second buffer; Update swaps
// the two, so that the bytes of a state are never copied. A sequence has two buffers for each
// state, which it uses in turn for as long as it lives. They start on the host, and are on a GPU
// once the backend has asked for memory there.
//
// Owned by the scheduler's entry for the sequence, which outlives the flight of its requests.
// Thread-compatible: one request of a sequence is in flight at a time.
#ifndef NEREID_INFER_SEQUENCE_STATES_H_
#define NEREID_INFER_SEQUENCE_STATES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_objects/buffer_attributes.h"
#include "config/compiled_model.h"
#include "device/devices.h"
#include "model/data_type.h"
#include "model/memory_kind.h"
#include "model/shape.h"

namespace nereid {

class InferInput;
class InferRequest;

// Frees the memory of a StateBuffer.
struct FreeState {
  void operator()(char* data) const {
    if (growable != nullptr) {
      delete growable;
    } else if (place.type == MemoryType::kCpu) {
      std::free(data);
    } else {
      devices->Free({data, place});
    }
  }
  MemoryPlace place;
  const Devices* devices = nullptr;    // null for memory of the process
  GrowableMemory* growable = nullptr;  // owned: the bytes are its own
};

// Bytes on a 64-byte boundary, on the host or on a GPU. The buffer keeps its memory when it
// shrinks.
class StateBuffer {
 public:
  char* data() const { return data_.get(); }
  uint64_t size() const { return size_; }
  const MemoryPlace& place() const { return data_.get_deleter().place; }
  // Makes room for `size` bytes in memory of the process; their content is unspecified if the
  // memory is not that of before. False if memory is exhausted.
  bool Resize(uint64_t size) { return ResizeAt(MemoryPlace{}, size, *Devices::None(), nullptr); }
  // The same where `wish` says, or where there is room if there is none. `devices` outlive this.
  // Replaced memory goes to `retired` if that is not null; otherwise it is freed.
  bool ResizeAt(const MemoryPlace& wish, uint64_t size, const Devices& devices,
                StateBuffer* retired);
  // Whether the memory grows where it is.
  bool grows() const { return data_.get_deleter().growable != nullptr; }
  // Makes room for `size` bytes in memory of GPU `gpu`, which is in use, that grows where it is.
  // Bytes in such memory keep their values; memory of another kind is replaced. Errors of
  // GrowableMemory.
  absl::Status GrowAt(int64_t gpu, uint64_t size, const Devices& devices, StateBuffer* retired);
  // Has no bytes until the next Resize, but keeps the memory.
  void Clear() { size_ = 0; }

  friend void swap(StateBuffer& a, StateBuffer& b) noexcept {
    std::swap(a.data_, b.data_);
    std::swap(a.size_, b.size_);
    std::swap(a.capacity_, b.capacity_);
  }

 private:
  bool Take(const MemoryPlace& wish, uint64_t capacity, const Devices& devices);

  std::unique_ptr<char, FreeState> data_;
  uint64_t size_ = 0;
  uint64_t capacity_ = 0;
};

class SequenceState {
 public:
  // `spec` outlives this. Holds nothing before the first Start.
  explicit SequenceState(const StateSpec* spec) : spec_(spec) {}

  const StateSpec& spec() const { return *spec_; }
  DataType data_type() const { return in_.data_type; }
  // The shape that the next request reads, batch dimension included.
  const Shape& shape() const { return in_.shape; }
  const StateBuffer& bytes() const { return in_.bytes; }

  // Takes the value with which a sequence starts. RESOURCE_EXHAUSTED without memory.
  absl::Status Start();
  // Takes zeros of the type and shape of `like`. RESOURCE_EXHAUSTED without memory.
  absl::Status StartLike(const InferInput& like);

  // ---- What a backend does with the state of a request that it executes.
  // Announces the next value. It has no bytes until Buffer is called.
  void Describe(DataType data_type, absl::Span<const int64_t> shape);
  // Memory for the next value, owned by the state; its content is unspecified. It is where `wish`
  // says, unless there is no room. With `same_buffer` it is the memory of the present value and
  // keeps that value's bytes as far as they fit; the memory to which the request's input pointed
  // stays valid until the next request. A growable state that has once been on a GPU stays there,
  // and keeps its address while it grows. RESOURCE_EXHAUSTED without memory; UNAVAILABLE if bytes
  // have to be copied and a GPU has failed; errors of GrowableMemory.
  absl::StatusOr<PlacedMemory> Buffer(uint64_t byte_size, const MemoryPlace& wish = {});
  // The attributes of the memory that Buffer returned last. Owned by the state.
  TRITONSERVER_BufferAttributes* Attributes() { return &attributes_; }
  // Makes the described and written value the state. Without Update the state stays unchanged.
  void Update();
  // The GPUs on which the next value may be; they outlive this.
  void Use(const Devices* devices) { devices_ = devices; }
  // Frees what the last request may still have pointed to.
  void DropRetired() { retired_ = StateBuffer(); }

 private:
  struct Value {
    DataType data_type = DataType::kInvalid;
    Shape shape;
    StateBuffer bytes;
  };

  // Buffer, with `same_buffer`.
  absl::Status ResizeSame(uint64_t byte_size, const MemoryPlace& wish);
  // Makes room for the value; memory that is replaced goes to `old`.
  absl::Status MakeRoom(uint64_t byte_size, const MemoryPlace& wish, StateBuffer* old);

  const StateSpec* const spec_;
  Value in_;
  Value out_;  // `bytes` is unused with `same_buffer`
  StateBuffer retired_;
  const Devices* devices_ = Devices::None();
  TRITONSERVER_BufferAttributes attributes_;
};

class SequenceStates {
 public:
  // For one sequence of `model`, which outlives it; null if the model has no state.
  static std::unique_ptr<SequenceStates> Create(const CompiledModel& model);

  // Called at START, when no request of the sequence is in flight: the next request sees all states
  // as at the start of a sequence. New SequenceStates need no Reset.
  void Reset() { started_ = false; }

  // Called just before `request`, which belongs to this sequence, is executed: adds the state
  // inputs that it lacks as override inputs, and sets its sequence_states until its release.
  // RESOURCE_EXHAUSTED without memory.
  absl::Status AttachTo(InferRequest* request);

  // Like AttachTo, for a request that comes from no client: attaches throw-away states.
  // These are the states with which sequences start or, if `like` is not null (a request of the
  // batch, after AttachTo), zeros in the shapes of its states. No-op if the model has no state.
  // RESOURCE_EXHAUSTED without memory.
  static absl::Status AttachThrowaway(const CompiledModel& model, InferRequest* synthetic,
                                      const InferRequest* like = nullptr);

  // The state that the model calls `output_name`, with its next value described. Not owned.
  // INVALID_ARGUMENT for a name that no state has.
  absl::StatusOr<SequenceState*> NewOutput(const std::string& output_name, DataType data_type,
                                           absl::Span<const int64_t> shape);

 private:
  explicit SequenceStates(const CompiledModel& model);
  void AddInputs(InferRequest* request);
  std::vector<SequenceState> states_;
  bool started_ = false;
};

}  // namespace nereid

#endif  // NEREID_INFER_SEQUENCE_STATES_H_
