// SPDX-License-Identifier: Apache-2.0
// Insist: for the few steps that need memory and must not fail because no caller is left to be
// told, such as the end of a load or of a version. Insist waits until there is memory, so only
// threads that keep no request waiting may use it. Thread-safe.
#ifndef NEREID_BASE_INSIST_H_
#define NEREID_BASE_INSIST_H_

#include <new>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

// How long to wait for memory before trying again.
inline constexpr Duration kMemoryStep = std::chrono::milliseconds(10);

inline void WaitForMemory(Clock* clock) {
  Mutex mu;
  CondVar never;
  MutexLock lock(&mu);
  const TimePoint until = clock->Now() + kMemoryStep;
  while (clock->Now() < until) clock->Wait(&never, &mu, until);
}

// Repeats `step` until it succeeds. REQUIRES: a step that throws std::bad_alloc has changed
// nothing; `step` throws nothing else.
template <typename Step>
void Insist(Clock* clock, const Step& step) noexcept {
  while (true) {
    try {
      step();
      return;
    } catch (const std::bad_alloc&) {
      WaitForMemory(clock);
    }
  }
}

}  // namespace nereid

#endif  // NEREID_BASE_INSIST_H_
