// SPDX-License-Identifier: Apache-2.0
// MappedSegment: a part of a POSIX shared-memory segment in the memory of this process.
// Thread-safe; the bytes themselves belong to all processes that share the segment, and change at
// any time.
#ifndef NEREID_FRONTENDS_SHARED_MEMORY_MAPPED_SEGMENT_H_
#define NEREID_FRONTENDS_SHARED_MEMORY_MAPPED_SEGMENT_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "memory/file_memory.h"
#include "plain/page_guard.h"

namespace nereid {

class MappedSegment {
 public:
  // Maps [offset, offset + size) of the segment `key`, a name as shm_open takes it; `size` is not
  // 0. INTERNAL if it cannot be opened, INVALID_ARGUMENT if the segment is shorter.
  static absl::StatusOr<std::unique_ptr<MappedSegment>> Map(const std::string& key, uint64_t offset,
                                                            uint64_t size);
  ~MappedSegment();
  MappedSegment(const MappedSegment&) = delete;
  MappedSegment& operator=(const MappedSegment&) = delete;

  char* data() const { return file_.data; }
  uint64_t size() const { return file_.byte_size; }
  // The part as other processes can map it. Valid as long as the object.
  const FileMemory& file() const { return file_; }

  // False if the segment has been truncated so that it no longer holds the part, or if it had been
  // when somebody used the part: then the bytes here are no longer those of the segment.
  bool IsWhole() const;

 private:
  MappedSegment() = default;

  FileMemory file_;
  void* base_ = nullptr;  // of the mapping, which begins at a page
  size_t mapped_bytes_ = 0;
  std::optional<PageGuard> guard_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_SHARED_MEMORY_MAPPED_SEGMENT_H_
