// SPDX-License-Identifier: Apache-2.0
// Spinner: waits for another process by polling for a while before the thread sleeps in the kernel,
// because sleeping and waking cost more than a short wait. How long it polls depends on how long
// recent waits took. Owned by one thread at a time.
#ifndef NEREID_BACKENDS_SDK_IPC_SPINNER_H_
#define NEREID_BACKENDS_SDK_IPC_SPINNER_H_

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace nereid_ipc {

class Spinner {
 public:
  // Returns when `done()` is true. `sleep()` sleeps until that may be so.
  template <typename Done, typename Sleep>
  void Wait(const Done& done, const Sleep& sleep) {
    if (done()) return;
    const Clock::time_point start = Clock::now();
    const bool spun = OtherProcessors() && SpinUntil(done, start + look_);
    while (!spun && !done()) sleep();
    // If a wait took no longer than sleeping and waking, polling is worthwhile next time.
    const bool worth = Clock::now() - start < kShort;
    look_ = worth ? std::min<Clock::duration>(2 * look_, kMost)
                  : std::max<Clock::duration>(look_ / 2, kLeast);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kLeast{1};
  static constexpr std::chrono::microseconds kMost{25};
  static constexpr std::chrono::microseconds kShort{80};
  static constexpr int kPauses = 8;  // between two readings of the clock

  template <typename Done>
  static bool SpinUntil(const Done& done, Clock::time_point end) {
    do {
      for (int i = 0; i < kPauses; ++i) {
        Pause();
        if (done()) return true;
      }
    } while (Clock::now() < end);
    return false;
  }
  // On a single processor, polling would only delay the process that is waited for.
  static bool OtherProcessors() {
    static const bool several = [] {
      cpu_set_t mine;
      return sched_getaffinity(0, sizeof(mine), &mine) != 0 || CPU_COUNT(&mine) > 1;
    }();
    return several;
  }
  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  Clock::duration look_ = kMost;
};

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_SPINNER_H_
