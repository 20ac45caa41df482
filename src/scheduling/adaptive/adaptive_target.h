// The model parameter `nereid.target_p99_us`, which switches adaptive batching on. A pure function.
#ifndef NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_TARGET_H_
#define NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_TARGET_H_

#include <absl/status/statusor.h>

#include "base/clock.h"
#include "config/compiled_model.h"

namespace nereid {

// Other features that decide when a model's batches run.
struct BatchingRivals {
  bool custom_strategy = false;  // the model or its backend has batching functions
  bool rate_limited = false;     // instances wait for the rate limiter
};

// The target of a model's requests; zero: no target is configured. INVALID_ARGUMENT if the value is
// no positive whole number of microseconds, or if the model's batches cannot be adapted.
absl::StatusOr<Duration> AdaptiveTarget(const CompiledModel& model, const BatchingRivals& rivals);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_ADAPTIVE_TARGET_H_
