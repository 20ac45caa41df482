#include "backends/python/worker/private_pages.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "backends/sdk/ipc/memory_file.h"

namespace nereid_python::worker {
namespace {

// The request PAGEMAP_SCAN (Linux 6.7), which older headers lack.
struct ScanArguments {
  uint64_t size = sizeof(ScanArguments);
  uint64_t flags = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t walk_end = 0;
  uint64_t regions = 0;
  uint64_t region_count = 0;
  uint64_t max_pages = 0;
  uint64_t category_inverted = 0;
  uint64_t category_mask = 0;
  uint64_t category_anyof_mask = 0;
  uint64_t return_mask = 0;
};
struct ScanRegion {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t categories = 0;
};
constexpr auto kScan = _IOWR('f', 16, ScanArguments);
constexpr uint64_t kIsFile = 1 << 2;
constexpr uint64_t kIsPresent = 1 << 3;
constexpr uint64_t kIsSwapped = 1 << 4;

// Bits of an entry of the page map.
constexpr uint64_t kEntryPresent = uint64_t{1} << 63;
constexpr uint64_t kEntrySwapped = uint64_t{1} << 62;
constexpr uint64_t kEntryFile = uint64_t{1} << 61;

}  // namespace

PrivatePages::PrivatePages()
    : pagemap_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)),
      page_size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
  if (!pagemap_.valid()) return;
  works_ = Try();
  if (works_) return;
  scans_ = false;
  works_ = Try();
}

bool PrivatePages::Any(const char* base, size_t size) const {
  const auto begin = reinterpret_cast<uintptr_t>(base);
  bool any = false;
  const bool known = scans_ ? Scan(begin, begin + size, &any) : Read(begin, begin + size, &any);
  return !known || any;
}

bool PrivatePages::Scan(uintptr_t begin, uintptr_t end, bool* any) const {
  ScanRegion found;
  ScanArguments arguments;
  arguments.start = begin;
  arguments.end = end;
  arguments.regions = reinterpret_cast<uint64_t>(&found);
  arguments.region_count = 1;
  arguments.max_pages = 1;
  arguments.category_inverted = kIsFile;
  arguments.category_mask = kIsFile;
  arguments.category_anyof_mask = kIsPresent | kIsSwapped;
  arguments.return_mask = kIsPresent;
  const int regions = ioctl(pagemap_.get(), kScan, &arguments);
  *any = regions > 0;
  return regions >= 0;
}

bool PrivatePages::Read(uintptr_t begin, uintptr_t end, bool* any) const {
  std::array<uint64_t, 512> entries;
  uintptr_t page = begin / page_size_;
  uintptr_t left = (end - begin) / page_size_;
  while (left > 0 && !*any) {
    const size_t bytes = std::min<size_t>(left, entries.size()) * sizeof(entries[0]);
    const ssize_t got =
        pread(pagemap_.get(), entries.data(), bytes, static_cast<off_t>(page * sizeof(entries[0])));
    if (got <= 0) return false;
    const size_t count = static_cast<size_t>(got) / sizeof(entries[0]);
    if (count == 0) return false;
    *any = std::any_of(entries.begin(), entries.begin() + count, [](uint64_t entry) {
      return (entry & (kEntryPresent | kEntrySwapped)) != 0 && (entry & kEntryFile) == 0;
    });
    page += count;
    left -= count;
  }
  return true;
}

bool PrivatePages::Try() const {
  const nereid_ipc::UniqueFd file = nereid_ipc::CreateMemoryFile("nereid-python-try", page_size_);
  if (!file.valid()) return false;
  void* const mapped =
      mmap(nullptr, page_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) return false;
  char* const bytes = static_cast<char*>(mapped);
  const char before = *static_cast<volatile char*>(bytes);
  const bool clean = !Any(bytes, page_size_);
  *static_cast<volatile char*>(bytes) = static_cast<char>(before + 1);
  const bool written = Any(bytes, page_size_);
  munmap(mapped, page_size_);
  return clean && written;
}

}  // namespace nereid_python::worker
