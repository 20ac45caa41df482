// SPDX-License-Identifier: Apache-2.0
#include "infer/sequence_states.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "base/status_macros.h"
#include "infer/infer_request.h"

namespace nereid {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kLargest = uint64_t{1} << 40;  // the system is not asked for more
constexpr uint64_t kEmptyTextSize = 4;            // an empty BYTES element: only its length field

absl::Status OutOfMemory(const StateSpec& spec, uint64_t byte_size) {
  return absl::ResourceExhaustedError(absl::StrCat("out of memory: cannot allocate ", byte_size,
                                                   " bytes for state '", spec.input_name, "'"));
}

// `wish`, or memory of the process if there are no such GPUs.
MemoryPlace Possible(const MemoryPlace& wish, const Devices& devices) {
  const bool possible =
      wish.type == MemoryType::kGpu ? devices.Get(wish.id) != nullptr : !devices.used().empty();
  return possible ? wish : MemoryPlace{};
}

}  // namespace

bool StateBuffer::Take(const MemoryPlace& wish, uint64_t capacity, const Devices& devices) {
  capacity_ = capacity;
  if (const auto memory = devices.Allocate(wish, capacity)) {
    data_ = {static_cast<char*>(memory->base), FreeState{memory->place, &devices}};
  } else {
    data_ = {static_cast<char*>(std::aligned_alloc(kAlignment, capacity)), FreeState{}};
  }
  return data_ != nullptr;
}

bool StateBuffer::ResizeAt(const MemoryPlace& wish, uint64_t size, const Devices& devices,
                           StateBuffer* retired) {
  const MemoryPlace possible = Possible(wish, devices);
  if (size > capacity_ || (size > 0 && place() != possible)) {
    if (size > kLargest) return false;
    StateBuffer other;
    if (!other.Take(possible, (size + kAlignment - 1) / kAlignment * kAlignment, devices))
      return false;
    swap(*this, other);
    if (retired != nullptr) swap(*retired, other);
  }
  size_ = size;
  return true;
}

absl::Status StateBuffer::GrowAt(int64_t gpu, uint64_t size, const Devices& devices,
                                 StateBuffer* retired) {
  const MemoryPlace there{MemoryType::kGpu, gpu};
  if (!grows() || place() != there) {
    ASSIGN_OR_RETURN(std::unique_ptr<GrowableMemory> made, devices.MakeGrowable(gpu));
    StateBuffer other;
    GrowableMemory* const memory = made.release();
    other.data_ = {memory->base(), FreeState{there, &devices, memory}};
    RETURN_IF_ERROR(memory->Resize(size));
    swap(*this, other);
    swap(*retired, other);
  }
  GrowableMemory* const memory = data_.get_deleter().growable;
  RETURN_IF_ERROR(memory->Resize(size));
  size_ = size;
  capacity_ = memory->byte_size();
  return absl::OkStatus();
}

absl::Status SequenceState::Start() {
  retired_ = StateBuffer();
  in_.data_type = spec_->data_type;
  in_.shape = spec_->start_shape;
  const bool from_file = spec_->initial == InitialState::kFile;
  const uint64_t size = from_file ? spec_->initial_bytes.size() : spec_->start_byte_size;
  if (!in_.bytes.Resize(size)) return OutOfMemory(*spec_, size);
  if (size == 0) return absl::OkStatus();
  if (from_file) {
    std::memcpy(in_.bytes.data(), spec_->initial_bytes.data(), size);
  } else {
    std::memset(in_.bytes.data(), 0, size);
  }
  return absl::OkStatus();
}

absl::Status SequenceState::StartLike(const InferInput& like) {
  in_.data_type = like.data_type();
  in_.shape = like.shape();
  // The shape is that of an existing state, so its elements can be counted.
  const uint64_t size =
      in_.data_type == DataType::kBytes
          ? static_cast<uint64_t>(ElementCount(in_.shape).value_or(0)) * kEmptyTextSize
          : like.byte_size();
  if (!in_.bytes.Resize(size)) return OutOfMemory(*spec_, size);
  if (size > 0) std::memset(in_.bytes.data(), 0, size);
  return absl::OkStatus();
}

void SequenceState::Describe(DataType data_type, absl::Span<const int64_t> shape) {
  out_.data_type = data_type;
  out_.shape.assign(shape.begin(), shape.end());
  attributes_ = {};
  if (!spec_->same_buffer) out_.bytes.Clear();
}

absl::Status SequenceState::MakeRoom(uint64_t byte_size, const MemoryPlace& wish,
                                     StateBuffer* old) {
  StateBuffer& bytes = in_.bytes;
  if (spec_->growable) {
    const bool on_gpu = wish.type == MemoryType::kGpu && devices_->Get(wish.id) != nullptr;
    if (on_gpu) return bytes.GrowAt(wish.id, byte_size, *devices_, old);
    if (bytes.grows()) return bytes.GrowAt(bytes.place().id, byte_size, *devices_, old);
  }
  return bytes.ResizeAt(wish, byte_size, *devices_, old) ? absl::OkStatus()
                                                         : OutOfMemory(*spec_, byte_size);
}

absl::Status SequenceState::ResizeSame(uint64_t byte_size, const MemoryPlace& wish) {
  StateBuffer& bytes = in_.bytes;
  const uint64_t kept = std::min(bytes.size(), byte_size);
  StateBuffer old;
  RETURN_IF_ERROR(MakeRoom(byte_size, wish, &old));
  if (old.data() == nullptr) return absl::OkStatus();
  absl::Status copied;
  if (bytes.place().type == MemoryType::kGpu || old.place().type == MemoryType::kGpu) {
    copied = devices_->Copy({{bytes.data(), bytes.place(), old.data(), old.place(), kept}});
  } else {
    std::memcpy(bytes.data(), old.data(), kept);
  }
  // The request's input shows the first buffer that is replaced, so only that one is kept.
  if (retired_.data() == nullptr) swap(retired_, old);
  return copied;
}

absl::StatusOr<PlacedMemory> SequenceState::Buffer(uint64_t byte_size, const MemoryPlace& wish) {
  const StateBuffer& bytes = spec_->same_buffer ? in_.bytes : out_.bytes;
  if (spec_->same_buffer) {
    RETURN_IF_ERROR(ResizeSame(byte_size, wish));
  } else if (!out_.bytes.ResizeAt(wish, byte_size, *devices_, nullptr)) {
    return OutOfMemory(*spec_, byte_size);
  }
  attributes_.byte_size = byte_size;
  attributes_.memory_type = static_cast<TRITONSERVER_MemoryType>(bytes.place().type);
  attributes_.memory_type_id = bytes.place().id;
  return PlacedMemory{bytes.data(), bytes.place()};
}

void SequenceState::Update() {
  in_.data_type = out_.data_type;
  std::swap(in_.shape, out_.shape);
  if (!spec_->same_buffer) swap(in_.bytes, out_.bytes);
}

SequenceStates::SequenceStates(const CompiledModel& model) {
  states_.reserve(model.states.size());
  for (const StateSpec& spec : model.states) states_.emplace_back(&spec);
}

std::unique_ptr<SequenceStates> SequenceStates::Create(const CompiledModel& model) {
  if (model.states.empty()) return nullptr;
  return std::unique_ptr<SequenceStates>(new SequenceStates(model));
}

void SequenceStates::AddInputs(InferRequest* request) {
  for (SequenceState& state : states_) {
    state.DropRetired();
    state.Use(&request->model()->devices());
    const std::string& name = state.spec().input_name;
    if (request->FindInput(name) != nullptr) continue;
    InferInput input(name, state.data_type(), state.shape());
    input.set_shape(state.shape());
    input.AppendBuffer({state.bytes().data(), state.bytes().size(), state.bytes().place()});
    if (input.on_gpu()) input.BeginReading(request->model().get());
    request->AddOverrideInput(std::move(input));
  }
  request->set_sequence_states(this);
}

absl::Status SequenceStates::AttachTo(InferRequest* request) {
  if (!started_) {
    for (SequenceState& state : states_) RETURN_IF_ERROR(state.Start());
    started_ = true;
  }
  AddInputs(request);
  return absl::OkStatus();
}

absl::Status SequenceStates::AttachThrowaway(const CompiledModel& model, InferRequest* synthetic,
                                             const InferRequest* like) {
  if (model.states.empty()) return absl::OkStatus();
  if (synthetic->own_states_ == nullptr) synthetic->own_states_ = Create(model);
  SequenceStates& states = *synthetic->own_states_;
  for (SequenceState& state : states.states_) {
    const InferInput* const shown =
        like == nullptr ? nullptr : like->FindBackendInput(state.spec().input_name);
    RETURN_IF_ERROR(shown == nullptr ? state.Start() : state.StartLike(*shown));
  }
  states.AddInputs(synthetic);
  return absl::OkStatus();
}

absl::StatusOr<SequenceState*> SequenceStates::NewOutput(const std::string& output_name,
                                                         DataType data_type,
                                                         absl::Span<const int64_t> shape) {
  for (SequenceState& state : states_) {
    if (state.spec().output_name != output_name) continue;
    state.Describe(data_type, shape);
    return &state;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("state '", output_name, "' is not a valid state name."));
}

}  // namespace nereid
