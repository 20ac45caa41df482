#include "scheduling/dynamic/inline_policy.h"

namespace nereid {

void InlinePolicy::Record(Duration took) {
  const bool is_long = took > limit_;
  if (runs_ < kMinRuns) ++runs_;
  if (long_[next_]) --long_count_;
  if (is_long) ++long_count_;
  long_[next_] = is_long;
  next_ = (next_ + 1) % kWindow;
}

}  // namespace nereid
