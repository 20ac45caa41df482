// SPDX-License-Identifier: Apache-2.0
#include "infer/request_trace.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <vector>

namespace nereid {
namespace {

// A tensor in several pieces is joined for the receiver. Pieces that this process cannot read are
// reported without their bytes.
void TraceInput(InferenceTrace* trace, TraceActivity activity, const InferInput& input,
                const Shape& shape) {
  TraceTensor tensor;
  tensor.name = input.name().c_str();
  tensor.data_type = input.data_type();
  tensor.shape = shape;
  const InputBuffers& pieces = input.buffers();
  std::string joined;
  if (pieces.size() == 1) {
    tensor.base = pieces[0].base;
    tensor.byte_size = pieces[0].byte_size;
    tensor.place = pieces[0].place;
  } else if (std::none_of(pieces.begin(), pieces.end(), [](const InputBuffer& piece) {
               return piece.place.type == MemoryType::kGpu;
             })) {
    for (const InputBuffer& piece : pieces) {
      joined.append(static_cast<const char*>(piece.base), piece.byte_size);
    }
    tensor.base = joined.data();
    tensor.byte_size = joined.size();
  }
  trace->ReportTensor(activity, tensor);
}

void TraceBackendInputs(InferRequest* request) {
  if (!request->trace()->wants_tensors()) return;
  for (size_t i = 0; i < request->backend_input_count(); ++i) {
    const InferInput& input = request->backend_input(i);
    TraceInput(request->trace(), TraceActivity::kTensorBackendInput, input, input.shape());
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
  for (const InferInput& input : request->inputs()) {
    TraceInput(trace, TraceActivity::kTensorQueueInput, input, input.sent_shape());
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

void TraceResponse(InferenceTrace* trace, const InferResponse& response) {
  if (!response.status().ok()) return trace->ReportError(response.status().message());
  if (!trace->wants_tensors()) return;
  for (const ResponseOutput& output : response.outputs()) {
    TraceTensor tensor;
    tensor.name = output.name().c_str();
    tensor.data_type = output.data_type();
    tensor.base = output.buffer().base;
    tensor.byte_size = output.buffer().byte_size;
    tensor.shape = output.shape();
    tensor.place = output.buffer().place;
    trace->ReportTensor(TraceActivity::kTensorBackendOutput, tensor);
  }
}

}  // namespace nereid
