// AdaptivePolicy: chooses delay and size of a model's batches by itself, so that as many requests
// as possible are served within a target: the time from a request's arrival in the queue to the end
// of its execution. Takes no lock, reads no clock, allocates only when it is made.
// Thread-compatible; owned by a BatchFormer, under its scheduler's mutex.
//
// Every arrival is shown to a dozen shadow queues, each of which follows a plan of its own. The
// real queue follows the plan of the shadow queue with the lowest cost (docs/adr/0010).
#ifndef NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_POLICY_H_
#define NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "scheduling/adaptive/arrival_log.h"
#include "scheduling/adaptive/batch_plan.h"
#include "scheduling/adaptive/service_curve.h"
#include "scheduling/adaptive/shadow_queue.h"
#include "scheduling/dynamic/batch_policy.h"

namespace nereid {

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

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_POLICY_H_
