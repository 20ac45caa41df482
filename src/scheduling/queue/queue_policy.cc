#include "scheduling/queue/queue_policy.h"

#include <algorithm>
#include <limits>

namespace nereid {

TimePoint Later(TimePoint at, Duration by) {
  return by > TimePoint::max() - at ? TimePoint::max() : at + by;
}

std::optional<TimePoint> Deadline(const QueuePolicy& policy, uint64_t asked_us, TimePoint now) {
  Duration timeout = policy.default_timeout;
  if (policy.allow_timeout_override && asked_us != 0) {
    constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max() / 1000;
    const Duration asked = std::chrono::microseconds(std::min(asked_us, kLongest));
    // A request can shorten the time-out of the policy, but not extend it.
    timeout = timeout == Duration(0) ? asked : std::min(timeout, asked);
  }
  if (timeout == Duration(0)) return std::nullopt;
  return Later(now, timeout);
}

bool MayTimeOut(const BatchingOptions& batching) {
  if (!batching.enabled) return false;
  return batching.default_queue_policy.MayTimeOut() ||
         std::any_of(batching.priority_queue_policy.begin(), batching.priority_queue_policy.end(),
                     [](const auto& level) { return level.second.MayTimeOut(); });
}

}  // namespace nereid
