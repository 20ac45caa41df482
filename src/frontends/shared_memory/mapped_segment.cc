// SPDX-License-Identifier: Apache-2.0
#include "frontends/shared_memory/mapped_segment.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status_macros.h"

namespace nereid {
namespace {

// Bytes of the segment, 0 if nobody can tell or if it is no segment.
uint64_t SizeOf(int fd) {
  struct stat found = {};
  if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) return 0;
  return static_cast<uint64_t>(found.st_size);
}

bool Holds(int fd, uint64_t offset, uint64_t size) {
  const uint64_t all = SizeOf(fd);
  return offset <= all && size <= all - offset;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MappedSegment>> MappedSegment::Map(const std::string& key,
                                                                  uint64_t offset, uint64_t size) {
  std::unique_ptr<MappedSegment> made(new MappedSegment);
  made->file_.fd = shm_open(key.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (made->file_.fd < 0) {
    return absl::InternalError(absl::StrCat("Unable to open shared memory region: '", key, "'"));
  }
  // This is for the error text alone. The client may make the segment shorter at any time, so that
  // only the guard protects the reads and writes.
  if (!Holds(made->file_.fd, offset, size)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the segment '", key, "' has ", SizeOf(made->file_.fd),
                     " bytes, which is less than ", offset, " + ", size));
  }
  // mmap takes offsets of whole pages, clients choose any.
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t before = offset % page;
  made->mapped_bytes_ = before + size;
  void* const base = mmap(nullptr, made->mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                          made->file_.fd, static_cast<off_t>(offset - before));
  if (base == MAP_FAILED) {
    return absl::InternalError(absl::StrCat("unable to map shared memory region: '", key, "'"));
  }
  made->base_ = base;
  made->guard_ = PageGuard::Make(base, (made->mapped_bytes_ + page - 1) / page * page);
  if (!made->guard_.has_value()) {
    if (errno != ENOMEM) return absl::InternalError("no handler for SIGBUS could be installed");
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", PageGuard::kMaxGuards, " mappings of shared memory already"));
  }
  made->file_.data = static_cast<char*>(base) + before;
  made->file_.offset = offset;
  made->file_.byte_size = size;
  return made;
}

MappedSegment::~MappedSegment() {
  guard_.reset();
  if (base_ != nullptr) munmap(base_, mapped_bytes_);
  if (file_.fd >= 0) close(file_.fd);
}

bool MappedSegment::IsWhole() const {
  return !guard_->damaged() && Holds(file_.fd, file_.offset, file_.byte_size);
}

}  // namespace nereid
