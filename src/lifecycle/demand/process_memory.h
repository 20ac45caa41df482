// SPDX-License-Identifier: Apache-2.0
// The memory of this process and of the processes that come from it. Stateless.
#ifndef NEREID_LIFECYCLE_DEMAND_PROCESS_MEMORY_H_
#define NEREID_LIFECYCLE_DEMAND_PROCESS_MEMORY_H_

#include <cstdint>
#include <filesystem>

namespace nereid {

// The bytes that are in memory for this process and its descendants; pages that several processes
// share count once, in equal parts. 0 where the system does not tell. `proc`: the mounted file
// system, other than /proc in tests. Reads a few files for each process of the system.
uint64_t ProcessTreeBytes(const std::filesystem::path& proc);

// Has this process's allocator return to the system what it keeps of freed memory. Takes
// milliseconds where that is much.
void ReturnFreedMemory();

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_DEMAND_PROCESS_MEMORY_H_
