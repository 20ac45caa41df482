// SPDX-License-Identifier: Apache-2.0
// Unnamed files in memory that two processes share (memfd_create). They cannot shrink, and get
// their pages before anybody touches them, so that a lack of memory is an error and not a signal.
// They end with the last process that has them open.
#ifndef NEREID_BACKENDS_SDK_IPC_MEMORY_FILE_H_
#define NEREID_BACKENDS_SDK_IPC_MEMORY_FILE_H_

#include <cstdint>

#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_ipc {

// A file of `size` bytes, all zero, with pages; listed among descriptors as `name`. Not valid, with
// errno set, if there is no room.
UniqueFd CreateMemoryFile(const char* name, uint64_t size);
// Allocates the pages of a range, and extends the file if needed. False, with errno set, if there
// is no room.
bool AllocatePages(int fd, uint64_t offset, uint64_t size);
// Frees the pages of a range, which then reads as zero. False if that is not possible.
bool ReleasePages(int fd, uint64_t offset, uint64_t size);

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_MEMORY_FILE_H_
