// SPDX-License-Identifier: Apache-2.0
// Turn: records whose turn it is in a word of memory shared by two processes; waiting threads sleep
// in the kernel. Thread-safe.
#ifndef NEREID_BACKENDS_SDK_IPC_TURN_H_
#define NEREID_BACKENDS_SDK_IPC_TURN_H_

#include <atomic>
#include <cstdint>

#include "backends/sdk/ipc/futex.h"
#include "backends/sdk/ipc/spinner.h"

namespace nereid_ipc {

class Turn {
 public:
  enum Owner : uint32_t {
    kServer,
    kWorker,
    kClosed,  // permanently: the other side has gone
  };

  // Passes the turn on and wakes the other side. False, without any effect, if it is not `from`'s
  // turn.
  bool Pass(Owner from, Owner to);
  // Keeps the turn and wakes the other side, if that waits in WaitFor. No effect if it is not
  // `owner`'s turn.
  void Notify(Owner owner);
  // Closes the turn permanently and wakes all waiters.
  void Close();
  // Waits while the turn is `owner`'s, and returns whose turn it then is. With a spinner, polls for
  // a while before it sleeps.
  Owner WaitWhile(Owner owner, Spinner* spinner = nullptr) const;
  // As above, but no longer than `nanoseconds`, after which it returns `owner`.
  Owner WaitWhileFor(Owner owner, uint64_t nanoseconds, Spinner* spinner = nullptr) const;
  // Waits until `done()`, which is asked again after each Pass, Notify and Close. Polls for a while
  // before it sleeps.
  template <typename Done>
  void WaitFor(const Done& done, Spinner* spinner) const {
    const auto sleep = [&] {
      const uint32_t seen = word_.load(std::memory_order_acquire);
      if (!done()) FutexWait(&word_, seen);
    };
    spinner->Wait(done, sleep);
  }
  Owner now() const { return OwnerIn(word_.load(std::memory_order_acquire)); }

 private:
  // The owner is in the lowest bits. The rest counts notifications, so that one between a look and
  // the sleep after it is not lost.
  static constexpr uint32_t kOwnerBits = 2;
  static constexpr uint32_t kOwnerMask = (1u << kOwnerBits) - 1;
  static Owner OwnerIn(uint32_t word) { return static_cast<Owner>(word & kOwnerMask); }
  // Sleeps while the turn is `owner`'s, for `nanoseconds` at most; 0: for any time.
  void SleepWhile(Owner owner, uint64_t nanoseconds) const;

  std::atomic<uint32_t> word_{kServer};
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
};

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_TURN_H_
