// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/process_memory.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "base/log.h"
#include "huge_pages/memory_map.h"

namespace nereid {
namespace {

// <linux/mman.h>; not yet in the C library of Debian 12.
constexpr int kMadviseCollapse = 25;

constexpr char kEnabled[] = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr char kSize[] = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";

// Mappings of which less than this part is in memory are not looked at: reading about pages that
// are not there takes time, too, and sanitizers map terabytes.
constexpr uint64_t kLeastFilled = 64;

std::string ReadAll(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

bool WorthReading(const Mapping& mapping) {
  return mapping.anonymous >= mapping.huge + OwnMemory::kHugePageBytes &&
         mapping.anonymous >= (mapping.end - mapping.begin) / kLeastFilled;
}

}  // namespace

absl::StatusOr<OwnMemory> OwnMemory::Open() {
  if (!HugePagesAllowed(ReadAll(kEnabled))) {
    return absl::FailedPreconditionError(absl::StrCat(kEnabled, " doesn't allow huge pages"));
  }
  const std::string size_text = ReadAll(kSize);
  uint64_t size = 0;
  if (!absl::SimpleAtoi(absl::StripSuffix(size_text, "\n"), &size) || size != kHugePageBytes) {
    return absl::FailedPreconditionError(
        absl::StrCat(kSize, " is not ", kHugePageBytes, ", the only size that is supported"));
  }
  // Without memory it does nothing but say whether the kernel knows the request.
  if (madvise(nullptr, 0, kMadviseCollapse) != 0) {
    return absl::FailedPreconditionError("the kernel is older than Linux 6.1");
  }
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return absl::ErrnoToStatus(errno, "/proc/self/pagemap can't be opened");
  return OwnMemory(pagemap, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

OwnMemory::OwnMemory(int pagemap, uint64_t page_bytes)
    : pagemap_(pagemap), page_bytes_(page_bytes) {}

OwnMemory::OwnMemory(OwnMemory&& other) noexcept
    : pagemap_(std::exchange(other.pagemap_, -1)), page_bytes_(other.page_bytes_) {}

OwnMemory::~OwnMemory() {
  if (pagemap_ >= 0) close(pagemap_);
}

absl::StatusOr<uint64_t> OwnMemory::AnonymousBytes() {
  const std::optional<uint64_t> bytes =
      nereid::AnonymousBytes(ReadAll("/proc/self/statm"), page_bytes_);
  if (!bytes.has_value()) return absl::InternalError("/proc/self/statm can't be read");
  return *bytes;
}

absl::StatusOr<std::vector<uint64_t>> OwnMemory::FullParts() {
  std::ifstream smaps("/proc/self/smaps");
  if (!smaps) return absl::InternalError("/proc/self/smaps can't be read");
  std::vector<uint64_t> parts;
  std::vector<uint64_t> entries(kHugePageBytes / page_bytes_);
  const size_t entry_bytes = entries.size() * sizeof(entries[0]);
  for (const Mapping& mapping : AnonymousMappings(smaps)) {
    if (!WorthReading(mapping)) continue;
    const uint64_t first = (mapping.begin + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    for (uint64_t part = first; part + kHugePageBytes <= mapping.end; part += kHugePageBytes) {
      const ssize_t got = pread(pagemap_, entries.data(), entry_bytes,
                                static_cast<off_t>(part / page_bytes_ * sizeof(entries[0])));
      if (got != static_cast<ssize_t>(entry_bytes)) {
        return absl::InternalError("/proc/self/pagemap can't be read");
      }
      if (AllOwnAndPresent(entries)) parts.push_back(part);
    }
  }
  return parts;
}

absl::Status OwnMemory::MakeHuge(uint64_t part) {
  // An address of this process, from its memory map.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (madvise(reinterpret_cast<void*>(part), kHugePageBytes, kMadviseCollapse) == 0) {
    return absl::OkStatus();
  }
  if (errno == ENOMEM)
    return absl::ResourceExhaustedError("no huge page is left, or no such memory");
  return absl::ErrnoToStatus(errno, "the memory can't become a huge page");
}

void ForbidHugePages() {
  if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0) return;
  LOG_WARNING << "huge pages can't be turned off: "
              << absl::ErrnoToStatus(errno, "prctl(PR_SET_THP_DISABLE)").message();
}

}  // namespace nereid
