// SPDX-License-Identifier: Apache-2.0
// BackOff: the delay before something that failed is started again. Owned by one thread. Pure:
// times are given, in nanoseconds on any steady clock.
#ifndef NEREID_BACKENDS_SDK_PROCESS_BACK_OFF_H_
#define NEREID_BACKENDS_SDK_PROCESS_BACK_OFF_H_

#include <algorithm>
#include <cstdint>

namespace nereid_backend {

class BackOff {
 public:
  static constexpr uint64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kFirst = kSecond;
  static constexpr uint64_t kLongest = 60 * kSecond;
  // After running for this long a process counts as healthy: its next failure is the first again.
  static constexpr uint64_t kSound = 60 * kSecond;

  // The delay after something started at `started` failed at `now`: nothing the first time, then
  // doubling each time.
  uint64_t DelayAfterFailure(uint64_t started, uint64_t now) {
    if (now - started >= kSound) next_ = 0;
    const uint64_t delay = next_;
    next_ = std::min(std::max(2 * next_, kFirst), kLongest);
    return delay;
  }

 private:
  uint64_t next_ = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_PROCESS_BACK_OFF_H_
