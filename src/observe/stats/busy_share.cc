// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/busy_share.h"

#include <algorithm>

namespace nereid {

BusyShare::Reading BusyShare::Read(TimePoint now, uint64_t busy_ns, size_t instances) {
  MutexLock lock(&mu_);
  // An execution that ends while it is read may be missed once: a counter must not go down for
  // that.
  highest_ns_ = std::max(highest_ns_, busy_ns);
  const Duration passed = now - since_;
  if (passed >= interval_ && passed > Duration(0)) {
    const double busy = static_cast<double>(highest_ns_ - busy_at_since_ns_);
    const double available =
        static_cast<double>(passed.count()) * static_cast<double>(std::max<size_t>(1, instances));
    share_ = std::min(1.0, busy / available);
    since_ = now;
    busy_at_since_ns_ = highest_ns_;
  }
  return {share_, static_cast<double>(highest_ns_) / 1e9};
}

}  // namespace nereid
