// Turn: whose turn it is, as a word in memory that two processes share; who waits for it sleeps in
// the kernel. Thread-safe.
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
    kClosed,  // for good: there is nobody on the other side any more
  };

  // Hands the turn over and wakes the other. False, and nothing is done, when it is not `from`'s.
  bool Pass(Owner from, Owner to);
  // Wakes who waits, for good.
  void Close();
  // Waits while the turn is `owner`'s. Returns whose it is then. With a spinner it looks for a
  // while before it sleeps.
  Owner WaitWhile(Owner owner, Spinner* spinner = nullptr) const;
  // As above, but no longer than `nanoseconds`: then it returns `owner`.
  Owner WaitWhileFor(Owner owner, uint64_t nanoseconds) const;
  Owner now() const { return static_cast<Owner>(word_.load(std::memory_order_acquire)); }

 private:
  std::atomic<uint32_t> word_{kServer};
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
};

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_TURN_H_
