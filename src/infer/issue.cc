#include "infer/issue.h"

#include <absl/cleanup/cleanup.h>

#include <memory>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "infer/input_recorder.h"
#include "infer/request_trace.h"
#include "infer/request_validator.h"
#include "infer/response_stream.h"

namespace nereid {

absl::Status IssueRequest(ModelPass pass, InferRequest* request, uint64_t now_ns) {
  RETURN_IF_ERROR(RequestValidator::Prepare(request));
  request->BeginFlight(std::move(pass), now_ns);
  absl::Cleanup abort = [request] { request->AbortFlight(); };
  if (request->trace() != nullptr) TraceIssued(request);
  if (InputRecorder* const recorder = request->model()->input_recorder(); recorder != nullptr) {
    recorder->Keep(*request);
  }
  ModelStatistics& statistics = request->model()->statistics();
  // Cannot fail: the request is INITIALIZED.
  request->lifecycle().MoveTo(RequestState::kPending, "").IgnoreError();
  statistics.AddPending(1);
  // The scheduler may finish with the request before Enqueue returns; `owned` keeps it on error.
  const std::shared_ptr<ServingModel> model = request->model();
  // Not more, since the end of the stream, which may answer the client, must not come here.
  const std::weak_ptr<ResponseStream> stream = request->stream();
  RequestPtr owned(request);
  absl::Cleanup take_back = [&] {
    owned.release()->lifecycle().MoveTo(RequestState::kFailedEnqueue, "").IgnoreError();
    statistics.AddPending(-1);
  };
  absl::Status enqueued;
  try {
    enqueued = model->Enqueue(&owned);
  } catch (...) {
    if (owned != nullptr) throw;
    // The scheduler has the request and will answer it, so the call does not fail.
    const std::shared_ptr<ResponseStream> open = stream.lock();
    LOG_ERROR_SELDOM << (open == nullptr ? LogAbout{"", model->config().name, ""} : open->About())
                     << "model '" << model->config().name
                     << "': an exception after a request was queued";
  }
  if (!enqueued.ok()) {
    request->stream()->NoteRefusal(ToNanos(model->clock()->Now()));
    return enqueued;
  }
  std::move(take_back).Cancel();
  std::move(abort).Cancel();
  return enqueued;
}

}  // namespace nereid
