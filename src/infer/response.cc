// SPDX-License-Identifier: Apache-2.0
#include "infer/response.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/caught.h"
#include "base/status_macros.h"
#include "device/devices.h"
#include "infer/response_stream.h"

namespace nereid {
namespace {

// The backend answered in the shape of `reshape`; clients see the configured dims. Variable dims
// take their values in order. `batched`: shape and result start with the batch dimension.
Shape MapBack(const OutputSpec& spec, bool batched, absl::Span<const int64_t> shape) {
  Shape mapped;
  size_t next = batched ? 1 : 0;  // next dimension of `shape` to look at
  if (batched && !shape.empty()) mapped.push_back(shape[0]);
  const Shape& reshape = *spec.reshape;
  size_t reshape_index = 0;
  for (const int64_t dim : spec.dims) {
    if (dim != kVariableDim) {
      mapped.push_back(dim);
      continue;
    }
    while (reshape_index < reshape.size() && reshape[reshape_index] != kVariableDim) {
      ++reshape_index;
      ++next;
    }
    mapped.push_back(next < shape.size() ? shape[next] : kVariableDim);
    ++reshape_index;
    ++next;
  }
  return mapped;
}

}  // namespace

absl::Status ResponseOutput::CheckUnallocated() const {
  if (allocated_) {
    return absl::AlreadyExistsError(
        absl::StrCat("allocated buffer for output '", name_, "' already exists"));
  }
  // What the allocator needs may be gone once the final response was delivered.
  if (response_->stream() != nullptr && response_->stream()->final_sent()) {
    return absl::InternalError(absl::StrCat("no buffer for output '", name_, "' of model '",
                                            response_->model_name(),
                                            "': the final response was sent already"));
  }
  return absl::OkStatus();
}

absl::Status ResponseOutput::Allocate(size_t byte_size, MemoryPlace wish) {
  RETURN_IF_ERROR(CheckUnallocated());
  OutputBuffer buffer;
  buffer.byte_size = byte_size;
  buffer.place = wish;
  buffer.holder = response_->holder();
  RETURN_IF_ERROR(NoteRefusal(
      response_->allocator()->Allocate(name_.c_str(), response_->allocator_userp(), &buffer)));
  const bool on_other_side = buffer.place.type == MemoryType::kGpu &&
                             wish.type != MemoryType::kGpu && buffer.base != nullptr &&
                             byte_size > 0 &&
                             response_->model()->devices().Get(buffer.place.id) != nullptr;
  if (on_other_side) return Stage(buffer);
  SetBuffer(buffer);
  return absl::OkStatus();
}

absl::Status ResponseOutput::Stage(const OutputBuffer& given) {
  absl::Cleanup release = [&] { response_->allocator()->Release(given); };
  auto kept = std::make_unique<OutputBuffer>(given);
  OutputBuffer host;
  host.byte_size = given.byte_size;
  host.holder = response_->holder();
  const HeapOutputAllocator heap(response_->allocator()->host_budget());
  RETURN_IF_ERROR(NoteRefusal(heap.Allocate(name_.c_str(), nullptr, &host)));
  std::move(release).Cancel();
  staged_for_ = std::move(kept);
  SetBuffer(host);
  return absl::OkStatus();
}

void ResponseOutput::Unstage() {
  HeapOutputAllocator(nullptr).Release(buffer_);
  SetBuffer(*staged_for_);
  staged_for_.reset();
}

void ResponseOutput::Release() {
  if (staged_for_ != nullptr) Unstage();
  if (buffer_.base != nullptr) response_->allocator()->Release(buffer_);
}

absl::Status ResponseOutput::Lend(const LentBytes& bytes) {
  RETURN_IF_ERROR(CheckUnallocated());
  OutputBuffer buffer;
  buffer.holder = response_->holder();
  RETURN_IF_ERROR(NoteRefusal(
      response_->allocator()->Lend(name_.c_str(), response_->allocator_userp(), bytes, &buffer)));
  SetBuffer(buffer);
  return absl::OkStatus();
}

absl::Status ResponseOutput::NoteRefusal(absl::Status status) const {
  if (absl::IsUnavailable(status) && response_->stream() != nullptr) {
    response_->stream()->NoteNoRoom();
  }
  return status;
}

void ResponseOutput::Adopt(const OutputBuffer& buffer) { SetBuffer(buffer); }

void ResponseOutput::SetBuffer(const OutputBuffer& buffer) {
  buffer_ = buffer;
  allocated_ = true;
  attributes_.reset();
}

OutputBuffer ResponseOutput::TakeBuffer() {
  attributes_.reset();
  return std::exchange(buffer_, OutputBuffer{});
}

TRITONSERVER_BufferAttributes* ResponseOutput::Attributes() {
  if (attributes_ == nullptr) {
    attributes_ = std::make_unique<TRITONSERVER_BufferAttributes>();
    attributes_->byte_size = buffer_.byte_size;
    attributes_->memory_type = static_cast<TRITONSERVER_MemoryType>(buffer_.place.type);
    attributes_->memory_type_id = buffer_.place.id;
    if (buffer_.ipc_handle != nullptr) attributes_->cuda_ipc_handle = *buffer_.ipc_handle;
  }
  return attributes_.get();
}

InferResponse::InferResponse(std::shared_ptr<ResponseStream> stream,
                             std::shared_ptr<ServingModel> model, std::string id,
                             const OutputAllocator* allocator, void* allocator_userp,
                             TracePtr trace)
    : trace_(std::move(trace)),
      stream_(std::move(stream)),
      model_(std::move(model)),
      id_(std::move(id)),
      allocator_(allocator),
      allocator_userp_(allocator_userp) {
  // Outputs never move after this: backends hold pointers to them.
  outputs_.reserve(model_->config().outputs.size());
}

const std::shared_ptr<Holder>* InferResponse::holder() const {
  return stream_ == nullptr ? nullptr : &stream_->holder();
}

absl::Status InferResponse::CopyStaged() {
  std::vector<CopyItem> items;
  for (const ResponseOutput& output : outputs_) {
    if (output.staged_for_ == nullptr) continue;
    const OutputBuffer& to = *output.staged_for_;
    items.push_back(
        {to.base, to.place, output.buffer_.base, output.buffer_.place, output.buffer_.byte_size});
  }
  return model_->devices().Copy(items);
}

void InferResponse::FinishOutputs() noexcept {
  const auto is_staged = [](const ResponseOutput& output) { return output.staged_for_ != nullptr; };
  if (std::none_of(outputs_.begin(), outputs_.end(), is_staged)) return;
  absl::Status copied;
  try {
    if (status_.ok()) copied = CopyStaged();
  } catch (const std::bad_alloc&) {
    copied = OutOfMemory();
  }
  for (ResponseOutput& output : outputs_) {
    if (output.staged_for_ != nullptr) output.Unstage();
  }
  if (copied.ok()) return;
  ClearOutputs();
  status_ = std::move(copied);
}

InferResponse::~InferResponse() { ClearOutputs(); }

absl::StatusOr<const OutputSpec*> InferResponse::FindNewOutput(absl::string_view name) const {
  const CompiledModel& model = model_->config();
  const int index = model.FindOutput(name);
  if (index < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected inference output '", name, "' for model '", model.name, "'"));
  }
  for (const ResponseOutput& output : outputs_) {
    if (output.name() == name) {
      return absl::AlreadyExistsError(absl::StrCat(
          "output '", name, "' already exists in the response of model '", model.name, "'"));
    }
  }
  return &model.outputs[static_cast<size_t>(index)];
}

absl::StatusOr<ResponseOutput*> InferResponse::AddOutput(absl::string_view name, DataType type,
                                                         absl::Span<const int64_t> shape) {
  ASSIGN_OR_RETURN(const OutputSpec* const spec, FindNewOutput(name));
  Shape client_shape = spec->reshape.has_value()
                           ? MapBack(*spec, model_->config().max_batch_size > 0, shape)
                           : Shape(shape.begin(), shape.end());
  outputs_.emplace_back(this, std::string(name), type, std::move(client_shape));
  return &outputs_.back();
}

absl::StatusOr<ResponseOutput*> InferResponse::AddClientOutput(absl::string_view name,
                                                               DataType type, Shape shape) {
  RETURN_IF_ERROR(FindNewOutput(name).status());
  outputs_.emplace_back(this, std::string(name), type, std::move(shape));
  return &outputs_.back();
}

void InferResponse::ClearOutputs() {
  for (ResponseOutput& output : outputs_) {
    output.Release();
  }
  outputs_.clear();
  parameters_.clear();
}

}  // namespace nereid
