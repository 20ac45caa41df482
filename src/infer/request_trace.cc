// SPDX-License-Identifier: Apache-2.0
#include "infer/request_trace.h"

#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "device/devices.h"

namespace nereid {
namespace {

// The pieces of a tensor in a row, those on GPUs as copies. Nothing if one cannot be copied.
std::optional<std::string> Join(InferInput* input) {
  std::string joined;
  for (const InputBuffer& piece : input->buffers()) {
    const absl::StatusOr<InputBuffer> on_host = input->OnHost(piece);
    if (!on_host.ok()) return std::nullopt;
    joined.append(static_cast<const char*>(on_host->base), on_host->byte_size);
  }
  return joined;
}

// A tensor in several pieces is joined for the receiver. Pieces that this process cannot read are
// reported without their bytes.
void TraceInput(InferenceTrace* trace, TraceActivity activity, InferInput* input,
                const Shape& shape) {
  TraceTensor tensor;
  tensor.name = input->name().c_str();
  tensor.data_type = input->data_type();
  tensor.shape = shape;
  const InputBuffers& pieces = input->buffers();
  std::optional<std::string> joined;
  if (pieces.size() == 1 && !(input->on_gpu() && trace->wants_copies())) {
    tensor.base = pieces[0].base;
    tensor.byte_size = pieces[0].byte_size;
    tensor.place = pieces[0].place;
  } else if (!input->on_gpu() || trace->wants_copies()) {
    joined = Join(input);
    if (joined.has_value()) {
      tensor.base = joined->data();
      tensor.byte_size = joined->size();
    }
  }
  trace->ReportTensor(activity, tensor);
}

void TraceBackendInputs(InferRequest* request) {
  if (!request->trace()->wants_tensors()) return;
  for (InferInput& input : request->inputs()) {
    if (!input.TakeTraceLater()) continue;
    TraceInput(request->trace(), TraceActivity::kTensorQueueInput, &input, input.sent_shape());
  }
  for (size_t i = 0; i < request->backend_input_count(); ++i) {
    InferInput& input = request->backend_input(i);
    TraceInput(request->trace(), TraceActivity::kTensorBackendInput, &input, input.shape());
  }
}

}  // namespace

void TraceIssued(InferRequest* request) {
  InferenceTrace* const trace = request->trace();
  const ServingModel& model = *request->model();
  trace->Begin(model.config().name, model.config().version, request->id(),
               request->request_start_ns());
  request->set_queue_start_ns(ToNanos(model.clock()->Now()));
  trace->Report(TraceActivity::kQueueStart, request->queue_start_ns());
  if (!trace->wants_tensors()) return;
  for (InferInput& input : request->inputs()) {
    // This may be an I/O thread, which copies nothing from GPUs.
    if (input.on_gpu() && trace->wants_copies()) {
      input.TraceLater();
    } else {
      TraceInput(trace, TraceActivity::kTensorQueueInput, &input, input.sent_shape());
    }
  }
}

void TraceLent(absl::Span<const RequestPtr> batch) noexcept try {
  static std::atomic<uint64_t> next_batch{1};
  std::vector<InferenceTrace*> traces;
  for (const RequestPtr& request : batch) {
    if (request->trace() != nullptr) traces.push_back(request->trace());
  }
  if (traces.empty()) return;
  const uint64_t id = next_batch.fetch_add(1, std::memory_order_relaxed);
  for (const RequestPtr& request : batch) {
    if (request->trace() == nullptr) continue;
    request->trace()->ReportBatch({id, batch.size(), traces});
    TraceBackendInputs(request.get());
  }
} catch (const std::bad_alloc&) {
  // The requests run even if their traces are incomplete.
}

namespace {

// The bytes of an output on a GPU; nothing if they cannot be copied.
std::optional<std::string> CopyOf(const OutputBuffer& buffer, const Devices& devices) {
  std::string copy(buffer.byte_size, '\0');
  const absl::Status copied =
      devices.Copy({{copy.data(), MemoryPlace{}, buffer.base, buffer.place, buffer.byte_size}});
  if (!copied.ok()) return std::nullopt;
  return copy;
}

}  // namespace

void TraceResponse(InferenceTrace* trace, const InferResponse& response) {
  if (!response.status().ok()) return trace->ReportError(response.status().message());
  if (!trace->wants_tensors()) return;
  for (const ResponseOutput& output : response.outputs()) {
    TraceTensor tensor;
    tensor.name = output.name().c_str();
    tensor.data_type = output.data_type();
    tensor.shape = output.shape();
    const OutputBuffer& buffer = output.buffer();
    std::optional<std::string> copy;
    if (buffer.place.type != MemoryType::kGpu || !trace->wants_copies()) {
      tensor.base = buffer.base;
      tensor.byte_size = buffer.byte_size;
      tensor.place = buffer.place;
    } else if (copy = CopyOf(buffer, response.model()->devices()); copy.has_value()) {
      tensor.base = copy->data();
      tensor.byte_size = copy->size();
    }
    trace->ReportTensor(TraceActivity::kTensorBackendOutput, tensor);
  }
}

}  // namespace nereid
