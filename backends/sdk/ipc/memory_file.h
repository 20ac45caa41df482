// Files without a name, in memory, that two processes share (memfd_create). They can not be made
// smaller, and are enlarged before anybody touches them: want of memory is an error, and not a
// signal. They end with the last process that has them open.
#ifndef NEREID_BACKENDS_SDK_IPC_MEMORY_FILE_H_
#define NEREID_BACKENDS_SDK_IPC_MEMORY_FILE_H_

#include <cstdint>

#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_ipc {

// A file of `size` bytes, all zero, with pages; shown as `name` where descriptors are listed. Not
// valid, with errno set, when there is no room.
UniqueFd CreateMemoryFile(const char* name, uint64_t size);
// Gives a stretch pages and, where needed, the file its length. False, with errno set, when there
// is no room.
bool AllocatePages(int fd, uint64_t offset, uint64_t size);
// Gives the pages of a stretch back; it reads as zero after that. False when that is not possible.
bool ReleasePages(int fd, uint64_t offset, uint64_t size);

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_MEMORY_FILE_H_
