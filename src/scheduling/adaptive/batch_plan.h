// BatchPlan: how an adaptive batcher makes its batches. A plain value and a pure function.
#ifndef NEREID_SCHEDULING_ADAPTIVE_BATCH_PLAN_H_
#define NEREID_SCHEDULING_ADAPTIVE_BATCH_PLAN_H_

#include <cstdint>

#include "base/clock.h"
#include "scheduling/adaptive/service_curve.h"

namespace nereid {

// An idle instance takes all queued requests, up to `max_units`, once the oldest request has waited
// for `delay` or `max_units` are queued.
struct BatchPlan {
  Duration delay{0};
  uint64_t max_units = 1;
};

// The most units of a batch whose oldest request has waited for `age`. If that request can no
// longer be answered within `target`, the plan does not apply any more: the batch size that serves
// most requests per time then shortens the queue soonest.
inline uint64_t BatchLimit(const BatchPlan& plan, const ServiceCurve& curve, Duration target,
                           Duration age) {
  return age + curve.Cautious(1) > target ? curve.efficient_units() : plan.max_units;
}

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_BATCH_PLAN_H_
