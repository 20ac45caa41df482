// SPDX-License-Identifier: Apache-2.0
// AdaptivePolicy: chooses delay and size of a model's batches by itself, so that as many requests
// as possible are served within a target: the time from a request's arrival in the queue to the end
// of its execution. Takes no lock, reads no clock, allocates only when it is made.
// Thread-compatible; owned by a BatchFormer, under its scheduler's mutex.
//
// Every arrival is shown to a dozen shadow queues, each of which follows a plan of its own. The
// real queue follows the plan of the shadow queue with the lowest cost (docs/adr/0010).
//
// Also here: AdaptiveTarget reads the target from the configuration, ExecutionMeter measures how
// long batches take, and DescribeMetrics shows the chosen plan.
#ifndef NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_POLICY_H_
#define NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_POLICY_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "config/compiled_model.h"
#include "observe/metrics/metric_sink.h"
#include "scheduling/adaptive/service_curve.h"
#include "scheduling/adaptive/shadow_queue.h"
#include "scheduling/dynamic/batch_policy.h"
#include "scheduling/scheduler.h"

namespace nereid {

// Other features that decide when a model's batches run.
struct BatchingRivals {
  bool custom_strategy = false;  // the model or its backend has batching functions
  bool rate_limited = false;     // instances wait for the rate limiter
};

// The target of a model's requests, from the model parameter `nereid.target_p99_us`; zero: no
// target is configured. INVALID_ARGUMENT if the value is no positive whole number of microseconds,
// or if the model's batches cannot be adapted. A pure function.
absl::StatusOr<Duration> AdaptiveTarget(const CompiledModel& model, const BatchingRivals& rivals);

struct AdaptiveOptions {
  Duration target{0};      // > 0
  uint64_t max_units = 1;  // of a batch, >= 1
  size_t instances = 1;    // that execute, >= 1
};

class AdaptivePolicy {
 public:
  explicit AdaptivePolicy(const AdaptiveOptions& options);
  // Not copied: the shadow queues have pointers to log_ and curve_.
  AdaptivePolicy(const AdaptivePolicy&) = delete;
  AdaptivePolicy& operator=(const AdaptivePolicy&) = delete;

  // A request of `units` has been queued at `now`.
  void OnArrival(TimePoint now, uint32_t units);
  // A batch of `units` has kept an instance busy for `took`.
  void OnExecuted(uint64_t units, Duration took);

  // Replaces rules.Decide, with the same contract: `rules` decides which requests may share a
  // batch, and this policy how long to wait and how many requests to take.
  BatchDecision Decide(const BatchPolicy& rules, const QueueView& queue, TimePoint now,
                       BatchCursor* cursor) const;

  // The plan that is followed now.
  const BatchPlan& plan() const { return shadows_[chosen_].plan(); }

 private:
  void UpdatePlans();
  void Choose();

  const Duration target_;  // less a reserve
  ServiceCurve curve_;
  ArrivalLog log_;
  std::vector<ShadowQueue> shadows_;
  size_t chosen_ = 0;  // index of the shadow whose plan is followed
};

// How long instances need for the batches that they pull, from one Pull to the
// next. Sending the answers counts: the next batch has to wait for that too. Thread-compatible;
// used under a scheduler's mutex. Reads no clock.
class ExecutionMeter {
 public:
  struct Execution {
    uint64_t units = 0;
    Duration took{0};
  };

  // Has room for `instances` instances.
  explicit ExecutionMeter(size_t instances) { running_.reserve(instances); }

  // `by` executes `batch` from `now` on. Where there is no memory for one more instance, nothing is
  // learned from this execution.
  void Begin(const BatchExecutor* by, const Batch& batch, TimePoint now) noexcept;
  // `by` has executed the batch that it began last; none if it never began one.
  std::optional<Execution> End(const BatchExecutor* by, TimePoint now) const;

 private:
  struct Running {
    const BatchExecutor* by = nullptr;
    uint64_t units = 0;
    TimePoint begun;
  };

  std::vector<Running> running_;  // the last batch of each instance
};

// The metrics of a plan.
void DescribeMetrics(const BatchPlan& plan, MetricSink* sink);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_POLICY_H_
