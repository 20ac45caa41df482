// Turn: records whose turn it is in a word of memory shared by two processes; waiting threads sleep
// in the kernel. Thread-safe.
#ifndef NEREID_BACKENDS_SDK_IPC_TURN_H_
#define NEREID_BACKENDS_SDK_IPC_TURN_H_

#include <atomic>
#include <cstdint>

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
  // Closes the turn permanently and wakes all waiters.
  void Close();
  // Waits while the turn is `owner`'s, and returns whose turn it then is. With a spinner, polls for
  // a while before it sleeps.
  Owner WaitWhile(Owner owner, Spinner* spinner = nullptr) const;
  // As above, but no longer than `nanoseconds`, after which it returns `owner`.
  Owner WaitWhileFor(Owner owner, uint64_t nanoseconds, Spinner* spinner = nullptr) const;
  Owner now() const { return static_cast<Owner>(word_.load(std::memory_order_acquire)); }

 private:
  std::atomic<uint32_t> word_{kServer};
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
};

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_TURN_H_
