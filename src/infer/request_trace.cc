#include "infer/request_trace.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>

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

void TraceLent(InferRequest* request, size_t batch_requests, uint64_t* batch_id) noexcept try {
  static std::atomic<uint64_t> next_batch{1};
  InferenceTrace* const trace = request->trace();
  if (*batch_id == 0) *batch_id = next_batch.fetch_add(1, std::memory_order_relaxed);
  trace->ReportBatch({*batch_id, batch_requests});
  if (!trace->wants_tensors()) return;
  for (size_t i = 0; i < request->backend_input_count(); ++i) {
    const InferInput& input = request->backend_input(i);
    TraceInput(trace, TraceActivity::kTensorBackendInput, input, input.shape());
  }
} catch (const std::bad_alloc&) {
  // The request runs even if its trace is incomplete.
}

void TraceOutputs(InferenceTrace* trace, const InferResponse& response) {
  if (!trace->wants_tensors() || !response.status().ok()) return;
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
