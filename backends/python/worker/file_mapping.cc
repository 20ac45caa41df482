#include "backends/python/worker/file_mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace nereid_python::worker {
namespace {

uint64_t PageSize() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

bool FileMapping::PartOf(int file, Kind kind, uint64_t offset, uint64_t size, Part* part) {
  struct stat status {};
  if (fstat(file, &status) != 0) return false;
  *part = {kind, status.st_dev, status.st_ino, offset, size};
  return true;
}

std::unique_ptr<FileMapping> FileMapping::Map(int file, const Part& part) {
  std::unique_ptr<FileMapping> made(new FileMapping(part));
  const uint64_t before = part.offset % PageSize();
  const uint64_t size = (before + part.size + PageSize() - 1) / PageSize() * PageSize();
  const int sharing = part.kind == Kind::kInput ? MAP_PRIVATE : MAP_SHARED;
  void* const base = mmap(nullptr, size, PROT_READ | PROT_WRITE, sharing | MAP_NORESERVE, file,
                          static_cast<off_t>(part.offset - before));
  if (base == MAP_FAILED) return nullptr;
  made->base_ = static_cast<char*>(base);
  made->mapped_ = size;
  made->data_ = made->base_ + before;
  if (!made->guard_.Begin(base, size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return made;
}

FileMapping::~FileMapping() {
  guard_.End();
  if (base_ != nullptr) munmap(base_, mapped_);
}

// Writing to a page of a private mapping makes it a copy. Each page gets a byte that it has
// already, unless another thread has written there meanwhile.
void FileMapping::Detach() {
  for (uint64_t at = 0; at < mapped_; at += PageSize()) {
    char byte = __atomic_load_n(base_ + at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(base_ + at, &byte, byte, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
  }
}

}  // namespace nereid_python::worker
