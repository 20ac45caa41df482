#include "backends/tensorflow/ipc/turn.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace nereid_tensorflow {
namespace {

// Not FUTEX_PRIVATE: the word is seen by two processes.
void Wait(const std::atomic<uint32_t>* word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}
void WakeAll(const std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

bool Turn::Pass(Owner from, Owner to) {
  uint32_t expected = from;
  if (!word_.compare_exchange_strong(expected, to, std::memory_order_acq_rel)) return false;
  WakeAll(&word_);
  return true;
}

void Turn::Close() {
  word_.store(kClosed, std::memory_order_release);
  WakeAll(&word_);
}

Turn::Owner Turn::WaitWhile(Owner owner) const {
  uint32_t now = word_.load(std::memory_order_acquire);
  while (now == owner) {
    Wait(&word_, owner);
    now = word_.load(std::memory_order_acquire);
  }
  return static_cast<Owner>(now);
}

}  // namespace nereid_tensorflow
