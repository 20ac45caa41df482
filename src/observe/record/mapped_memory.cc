// SPDX-License-Identifier: Apache-2.0
#include "observe/record/mapped_memory.h"

#include <sys/mman.h>

#include <new>

namespace nereid {

MappedMemory::MappedMemory(size_t bytes) : bytes_(bytes) {
  if (bytes_ == 0) return;
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  start_ = mapped;
}

MappedMemory::~MappedMemory() {
  if (start_ != nullptr) munmap(start_, bytes_);
}

}  // namespace nereid
