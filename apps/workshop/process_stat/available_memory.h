// SPDX-License-Identifier: Apache-2.0
// How much memory programs may still take on this machine.
#ifndef NEREID_APPS_WORKSHOP_PROCESS_STAT_AVAILABLE_MEMORY_H_
#define NEREID_APPS_WORKSHOP_PROCESS_STAT_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <optional>

namespace nereid {

// In bytes, as the kernel estimates it (`MemAvailable` of /proc/meminfo); nothing if it does not
// say so. Thread-safe.
std::optional<uint64_t> AvailableMemory();

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_PROCESS_STAT_AVAILABLE_MEMORY_H_
