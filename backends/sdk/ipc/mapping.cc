// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/ipc/mapping.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace nereid_ipc {

std::shared_ptr<Mapping> Mapping::Map(int fd, uint64_t offset, uint64_t size) {
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                          static_cast<off_t>(offset));
  if (data == MAP_FAILED) return nullptr;
  return std::shared_ptr<Mapping>(new Mapping(static_cast<char*>(data), size));
}

Mapping::~Mapping() { munmap(data_, size_); }

bool Mapping::MakePrivate(uint64_t used) {
  void* const copy =
      mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  std::memcpy(copy, data_, std::min(used, size_));
  if (mremap(copy, size_, size_, MREMAP_MAYMOVE | MREMAP_FIXED, data_) != MAP_FAILED) return true;
  munmap(copy, size_);
  return false;
}

}  // namespace nereid_ipc
