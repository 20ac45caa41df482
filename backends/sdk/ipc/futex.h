// SPDX-License-Identifier: Apache-2.0
// Sleeping on a word in memory that two processes share. Thread-safe.
#ifndef NEREID_BACKENDS_SDK_IPC_FUTEX_H_
#define NEREID_BACKENDS_SDK_IPC_FUTEX_H_

#include <atomic>
#include <cstdint>

namespace nereid_ipc {

// Sleeps while the word is `value`; may wake without a reason. `nanoseconds` 0: for any time.
void FutexWait(const std::atomic<uint32_t>* word, uint32_t value, uint64_t nanoseconds = 0);
void FutexWakeAll(const std::atomic<uint32_t>* word);

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_FUTEX_H_
