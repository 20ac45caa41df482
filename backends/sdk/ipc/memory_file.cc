// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/ipc/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

namespace nereid_ipc {
namespace {

// Tries again if a signal interrupts it.
bool Allocate(int fd, int mode, uint64_t offset, uint64_t size) {
  while (fallocate(fd, mode, static_cast<off_t>(offset), static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

UniqueFd CreateMemoryFile(const char* name, uint64_t size) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return fd;
  if (!Allocate(fd.get(), 0, 0, size) || fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return {};
  }
  return fd;
}

bool AllocatePages(int fd, uint64_t offset, uint64_t size) { return Allocate(fd, 0, offset, size); }

bool ReleasePages(int fd, uint64_t offset, uint64_t size) {
  return Allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
}

}  // namespace nereid_ipc
