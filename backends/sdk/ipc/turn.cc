// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/ipc/turn.h"

#include <chrono>

namespace nereid_ipc {

bool Turn::Pass(Owner from, Owner to) {
  uint32_t word = word_.load(std::memory_order_relaxed);
  do {
    if (OwnerIn(word) != from) return false;
  } while (
      !word_.compare_exchange_weak(word, (word & ~kOwnerMask) | to, std::memory_order_acq_rel));
  FutexWakeAll(&word_);
  return true;
}

void Turn::Notify(Owner owner) {
  uint32_t word = word_.load(std::memory_order_relaxed);
  do {
    if (OwnerIn(word) != owner) return;
  } while (
      !word_.compare_exchange_weak(word, word + (1u << kOwnerBits), std::memory_order_acq_rel));
  FutexWakeAll(&word_);
}

void Turn::Close() {
  word_.store(kClosed, std::memory_order_release);
  FutexWakeAll(&word_);
}

void Turn::SleepWhile(Owner owner, uint64_t nanoseconds) const {
  const uint32_t seen = word_.load(std::memory_order_acquire);
  if (OwnerIn(seen) == owner) FutexWait(&word_, seen, nanoseconds);
}

Turn::Owner Turn::WaitWhile(Owner owner, Spinner* spinner) const {
  const auto done = [&] { return now() != owner; };
  const auto sleep = [&] { SleepWhile(owner, 0); };
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
    SleepWhile(owner, static_cast<uint64_t>(std::chrono::nanoseconds(left).count()));
  };
  if (spinner != nullptr) spinner->Wait(done, sleep);
  while (!done()) sleep();
  return now();
}

}  // namespace nereid_ipc
