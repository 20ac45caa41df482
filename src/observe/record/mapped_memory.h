// SPDX-License-Identifier: Apache-2.0
// MappedMemory: zeroed memory straight from the kernel, which counts as used only where it was
// written to. Owns the mapping. Immutable; the bytes are the user's.
#ifndef NEREID_OBSERVE_RECORD_MAPPED_MEMORY_H_
#define NEREID_OBSERVE_RECORD_MAPPED_MEMORY_H_

#include <cstddef>

namespace nereid {

class MappedMemory {
 public:
  // 0 bytes: no mapping. Throws std::bad_alloc.
  explicit MappedMemory(size_t bytes);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  void* get() const { return start_; }

 private:
  const size_t bytes_;
  void* start_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_RECORD_MAPPED_MEMORY_H_
