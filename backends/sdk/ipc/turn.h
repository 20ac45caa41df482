// Turn: whose turn it is on a channel, as a word in memory that two processes share; who waits for
// it sleeps in the kernel. Thread-safe.
#ifndef NEREID_BACKENDS_TENSORFLOW_IPC_TURN_H_
#define NEREID_BACKENDS_TENSORFLOW_IPC_TURN_H_

#include <atomic>
#include <cstdint>

namespace nereid_tensorflow {

class Turn {
 public:
  enum Owner : uint32_t {
    kServer,
    kWorker,
    kClosed,  // for good: the channel is closed, or the worker has ended
  };

  // Hands the turn over and wakes the other. False, and nothing is done, when it is not `from`'s.
  bool Pass(Owner from, Owner to);
  // Closes the channel and wakes who waits.
  void Close();
  // Waits while the turn is `owner`'s. Returns whose it is then.
  Owner WaitWhile(Owner owner) const;

 private:
  std::atomic<uint32_t> word_{kServer};
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_IPC_TURN_H_
