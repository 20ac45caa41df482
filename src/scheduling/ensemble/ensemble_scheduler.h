// SPDX-License-Identifier: Apache-2.0
// EnsembleScheduler: the scheduler of an ensemble: sends each request through the steps of its
// graph, and has neither a queue nor a thread. Thread-safe. Owned by its model.
#ifndef NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_SCHEDULER_H_
#define NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_SCHEDULER_H_

#include <atomic>
#include <cstddef>
#include <utility>

#include "scheduling/ensemble/ensemble_context.h"
#include "scheduling/scheduler.h"

namespace nereid {

class EnsembleScheduler final : public Scheduler {
 public:
  // All but `graph` outlive this. `allocator`, that of the tensors between the steps, also outlives
  // the responses of the steps' models.
  EnsembleScheduler(const CompiledModel* config, StepGraph graph, ModelResolver* resolver,
                    const StepAllocator* allocator, Clock* clock)
      : context_(config, std::move(graph), resolver, allocator, clock) {}

  // Besides UNAVAILABLE, errors of the look-up of a step's model.
  absl::Status Enqueue(RequestPtr* request) override;
  void CloseAdmission() override { closed_.store(true, std::memory_order_release); }
  void OnCancel(InferRequest* request) override ABSL_LOCKS_EXCLUDED(context_.runs_mu);
  // Requests under way end when the steps' models answer.
  void Shutdown() override { CloseAdmission(); }

  void DescribeMetrics(MetricSink* sink) const override;

  // The most bytes that tensors between the steps took in one request so far.
  size_t peak_bytes() const { return context_.peak_bytes.load(); }

 private:
  EnsembleContext context_;
  std::atomic<bool> closed_{false};
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_SCHEDULER_H_
