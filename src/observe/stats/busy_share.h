// SPDX-License-Identifier: Apache-2.0
// BusyShare: which share of their time a model's instances have been executing, as a gauge for
// autoscalers. Thread-safe. Used when metrics are read, not by the instances.
#ifndef NEREID_OBSERVE_STATS_BUSY_SHARE_H_
#define NEREID_OBSERVE_STATS_BUSY_SHARE_H_

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class BusyShare {
 public:
  // A reading is kept for `interval`, so that several readers do not shorten the time over which
  // the share is taken. The instances were idle until `now`.
  BusyShare(TimePoint now, Duration interval) : interval_(interval), since_(now) {}

  struct Reading {
    double share = 0;         // 0 to 1, since the reading before
    double busy_seconds = 0;  // never less than before
  };
  // `busy_ns`: of all instances together so far, executions under way included. `instances`: how
  // many there are now.
  Reading Read(TimePoint now, uint64_t busy_ns, size_t instances) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const Duration interval_;
  Mutex mu_;
  TimePoint since_ ABSL_GUARDED_BY(mu_);                // when share_ was taken
  uint64_t busy_at_since_ns_ ABSL_GUARDED_BY(mu_) = 0;  // at that time
  uint64_t highest_ns_ ABSL_GUARDED_BY(mu_) = 0;
  double share_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_STATS_BUSY_SHARE_H_
