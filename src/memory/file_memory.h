// SPDX-License-Identifier: Apache-2.0
// FileMemory: memory of this process that is a part of a file, which other processes can map, too.
// A plain value; owned by whoever has mapped the file, as long as anybody uses the memory.
#ifndef NEREID_MEMORY_FILE_MEMORY_H_
#define NEREID_MEMORY_FILE_MEMORY_H_

#include <cstdint>

namespace nereid {

struct FileMemory {
  int fd = -1;             // open for reading and writing
  char* data = nullptr;    // where the part is in this process
  uint64_t offset = 0;     // of the part in the file
  uint64_t byte_size = 0;  // of the part

  // The place in the file of an address within the part.
  uint64_t OffsetOf(const void* address) const {
    return offset + static_cast<uint64_t>(static_cast<const char*>(address) - data);
  }
};

}  // namespace nereid

#endif  // NEREID_MEMORY_FILE_MEMORY_H_
