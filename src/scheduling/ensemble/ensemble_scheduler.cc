#include "scheduling/ensemble/ensemble_scheduler.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "infer/infer_request.h"
#include "scheduling/ensemble/ensemble_run.h"
#include "scheduling/ensemble/step_queue.h"

namespace nereid {
namespace {

absl::Status Stopping(const InferRequest& request) {
  return absl::UnavailableError(absl::StrCat(
      request.LogPrefix(),
      "Server is stopping, scheduler for model has stopped accepting new inference requests"));
}

}  // namespace

absl::Status EnsembleScheduler::Enqueue(RequestPtr* request) {
  InferRequest& r = **request;
  const bool closed = closed_.load(std::memory_order_acquire) && !r.passes_closed_admission;
  if (closed && !r.correlation_id().present()) return Stopping(r);
  ASSIGN_OR_RETURN(const std::shared_ptr<EnsembleRun> run, EnsembleRun::Make(&context_, r));
  // Sequences that live may be finished.
  const bool begins = (r.flags() & kRequestFlagSequenceStart) != 0;
  if (closed && (begins || !run->HasSequence(r.correlation_id()))) return Stopping(r);
  if (r.queue_start_ns == 0) r.queue_start_ns = ToNanos(context_.clock->Now());
  // It waits for nothing here; its parts may, in the queues of their models.
  if (absl::Status moved = r.lifecycle().MoveTo(RequestState::kExecuting, ""); !moved.ok()) {
    LOG_ERROR << moved.message();
  }
  r.model()->statistics().AddPending(-1);
  const StepQueue::TurnScope scope(std::exchange(r.inline_turn, nullptr));
  run->Begin(std::move(*request));
  return absl::OkStatus();
}

void EnsembleScheduler::OnCancel(InferRequest* request) {
  std::shared_ptr<EnsembleRun> run;
  {
    MutexLock lock(&context_.runs_mu);
    if (request->ensemble_run != nullptr) run = request->ensemble_run->weak_from_this().lock();
  }
  if (run != nullptr) run->Cancel();
}

}  // namespace nereid
