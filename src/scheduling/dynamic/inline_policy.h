// SPDX-License-Identifier: Apache-2.0
// InlinePolicy: whether the next batch of a model may be executed by an I/O thread. Pure: takes no
// lock and reads no clock. Thread-compatible.
//
// All of these must hold: the model allows it; at least kMinRuns executions have been measured; at
// most kMaxLong of the last kWindow executions took longer than the limit; and in the last second
// no execution has held up an I/O thread for kOverrun times the limit. Executions are measured in
// elapsed time, so that even a short model exceeds the limit now and then.
#ifndef NEREID_SCHEDULING_DYNAMIC_INLINE_POLICY_H_
#define NEREID_SCHEDULING_DYNAMIC_INLINE_POLICY_H_

#include <bitset>
#include <cstddef>

#include "base/clock.h"

namespace nereid {

class InlinePolicy {
 public:
  static constexpr size_t kWindow = 128;
  static constexpr size_t kMinRuns = 100;
  static constexpr size_t kMaxLong = 6;  // the 95th percentile counts
  static constexpr int kOverrun = 10;
  static constexpr Duration kPause = std::chrono::seconds(1);

  // The limit unless the user sets one, where the server may use so many `processors`. On the only
  // processor, nothing else runs while an instance's thread executes, so a hand-over costs two
  // changes of threads and gains nothing. There is a limit even so: an instance's thread shares
  // the processor with the I/O threads, while an execution on an I/O thread holds up its clients.
  static constexpr Duration DefaultLimit(int processors) {
    return std::chrono::microseconds(processors == 1 ? 1000 : 100);
  }

  // `limit`: what an execution may take; zero: never on an I/O thread.
  explicit InlinePolicy(Duration limit) : limit_(limit) {}

  bool enabled() const { return limit_ > Duration(0); }
  bool Allows(TimePoint now) const {
    return runs_ >= kMinRuns && long_count_ <= kMaxLong && now >= paused_until_;
  }

  // An execution has ended.
  void Record(Duration took) {
    const bool is_long = took > limit_;
    if (runs_ < kMinRuns) ++runs_;
    if (long_[next_]) --long_count_;
    if (is_long) ++long_count_;
    long_[next_] = is_long;
    next_ = (next_ + 1) % kWindow;
  }
  bool IsOverrun(Duration took) const { return took > kOverrun * limit_; }
  // An execution has held up an I/O thread, at `now`.
  void Pause(TimePoint now) { paused_until_ = now + kPause; }

 private:
  const Duration limit_;
  std::bitset<kWindow> long_;  // a ring of the last executions; true: took longer than the limit
  size_t next_ = 0;
  size_t runs_ = 0;  // up to kMinRuns
  size_t long_count_ = 0;
  TimePoint paused_until_ = TimePoint::min();
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_INLINE_POLICY_H_
