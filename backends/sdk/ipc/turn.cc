#include "backends/sdk/ipc/turn.h"

#include <chrono>

#include "backends/sdk/ipc/futex.h"

namespace nereid_ipc {

bool Turn::Pass(Owner from, Owner to) {
  uint32_t expected = from;
  if (!word_.compare_exchange_strong(expected, to, std::memory_order_acq_rel)) return false;
  FutexWakeAll(&word_);
  return true;
}

void Turn::Close() {
  word_.store(kClosed, std::memory_order_release);
  FutexWakeAll(&word_);
}

Turn::Owner Turn::WaitWhile(Owner owner, Spinner* spinner) const {
  const auto done = [&] { return now() != owner; };
  const auto sleep = [&] { FutexWait(&word_, owner); };
  if (spinner != nullptr) spinner->Wait(done, sleep);
  while (!done()) sleep();
  return now();
}

Turn::Owner Turn::WaitWhileFor(Owner owner, uint64_t nanoseconds, Spinner* spinner) const {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  bool late = false;
  const auto done = [&] { return late || now() != owner; };
  const auto sleep = [&] {
    const auto left = deadline - Clock::now();
    late = left <= Clock::duration::zero();
    if (late) return;
    FutexWait(&word_, owner, static_cast<uint64_t>(std::chrono::nanoseconds(left).count()));
  };
  if (spinner != nullptr) spinner->Wait(done, sleep);
  while (!done()) sleep();
  return now();
}

}  // namespace nereid_ipc
