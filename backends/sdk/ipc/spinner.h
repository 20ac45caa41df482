// Spinner: looks for a while whether something has happened before its thread goes to sleep in the
// kernel, where sleeping and waking cost more than the wait. How long it looks follows what that
// has brought lately. Owned by one thread at a time.
#ifndef NEREID_BACKENDS_SDK_IPC_SPINNER_H_
#define NEREID_BACKENDS_SDK_IPC_SPINNER_H_

#include <algorithm>
#include <cstdint>
#include <thread>

namespace nereid_ipc {

class Spinner {
 public:
  // True as soon as `done()` is; false when that was not so soon enough.
  template <typename Done>
  bool Spin(const Done& done) {
    if (done()) return true;
    if (!OtherProcessors()) return false;
    for (uint32_t i = 0; i < rounds_; ++i) {
      Pause();
      if (done()) {
        rounds_ = std::min(2 * rounds_, kMost);
        return true;
      }
    }
    rounds_ = std::max(rounds_ / 2, kLeast);
    return false;
  }

 private:
  // A round takes 20 to 50 ns: from 1 to 20 microseconds.
  static constexpr uint32_t kLeast = 32;
  static constexpr uint32_t kMost = 512;

  static bool OtherProcessors() {
    static const bool several = std::thread::hardware_concurrency() > 1;
    return several;
  }
  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  uint32_t rounds_ = kMost;
};

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_SPINNER_H_
