// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/ensemble_scheduler.h"

#include <memory>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "infer/infer_request.h"
#include "scheduling/ensemble/ensemble_run.h"
#include "scheduling/ensemble/step_queue.h"
#include "scheduling/scheduler.h"

namespace nereid {
namespace {

constexpr MetricFamily kPeakBytes = {
    "nereid_ensemble_peak_bytes", MetricKind::kGauge,
    "Most bytes that tensors between the steps of an ensemble took in one request so far",
    MetricSection::kEnsemble};

}  // namespace

absl::Status EnsembleScheduler::Enqueue(RequestPtr* request) {
  InferRequest& r = **request;
  const bool closed = closed_.load(std::memory_order_acquire) && !r.passes_closed_admission();
  if (closed && !r.correlation_id().present()) return StoppingError(r);
  ASSIGN_OR_RETURN(const std::shared_ptr<EnsembleRun> run, EnsembleRun::Make(&context_, r));
  // Requests of sequences that a step's model has are still accepted.
  const bool begins = (r.flags() & kRequestFlagSequenceStart) != 0;
  if (closed && (begins || !run->HasSequence(r.correlation_id()))) return StoppingError(r);
  if (r.queue_start_ns() == 0) r.set_queue_start_ns(ToNanos(context_.clock->Now()));
  // The request does not wait here. Its parts may, in the queues of their models.
  if (absl::Status moved = r.lifecycle().MoveTo(RequestState::kExecuting, ""); !moved.ok()) {
    LOG_ERROR_SELDOM << r.About() << moved.message();
  }
  r.model()->statistics().AddPending(-1);
  const StepQueue::TurnScope scope(r.TakeInlineTurn());
  run->Begin(std::move(*request));
  return absl::OkStatus();
}

void EnsembleScheduler::OnCancel(InferRequest* request) {
  std::shared_ptr<EnsembleRun> run;
  {
    MutexLock lock(&context_.runs_mu);
    if (auto* const found = request->FindSlot<EnsembleRun>()) run = found->weak_from_this().lock();
  }
  if (run != nullptr) run->Cancel();
}

void EnsembleScheduler::DescribeMetrics(MetricSink* sink) const {
  Scheduler::DescribeMetrics(sink);
  sink->Report(kPeakBytes, peak_bytes());
}

}  // namespace nereid
