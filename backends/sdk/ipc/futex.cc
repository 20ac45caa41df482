// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/ipc/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace nereid_ipc {

// Neither function uses FUTEX_PRIVATE, because two processes share the word.
void FutexWait(const std::atomic<uint32_t>* word, uint32_t value, uint64_t nanoseconds) {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);  // NOLINT(google-runtime-int)
  syscall(SYS_futex, word, FUTEX_WAIT, value, nanoseconds > 0 ? &limit : nullptr, nullptr, 0);
}

void FutexWakeAll(const std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace nereid_ipc
