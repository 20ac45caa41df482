// SPDX-License-Identifier: Apache-2.0
// ProcessMemory: the memory of a process as far as huge pages are concerned. An interface, so that
// tests of HugePageThread have no need of a kernel.
#ifndef NEREID_APPS_NEREID_HUGE_PAGES_PROCESS_MEMORY_H_
#define NEREID_APPS_NEREID_HUGE_PAGES_PROCESS_MEMORY_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

namespace nereid {

// Used by one thread at a time.
class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;

  // Bytes in memory that belong to no file.
  virtual absl::StatusOr<uint64_t> AnonymousBytes() = 0;
  // The addresses of the parts of the memory, each as large and aligned as a huge page, all of
  // whose pages are in memory: as huge pages they need no byte more. Those that are huge pages
  // already may be among them.
  virtual absl::StatusOr<std::vector<uint64_t>> FullParts() = 0;
  // Moves such a part to a huge page, unless it is one already. RESOURCE_EXHAUSTED: the machine or
  // the control group has no huge page left, or the part is not mapped any more. Another error: the
  // memory has changed otherwise, or the kernel doesn't want to.
  virtual absl::Status MakeHuge(uint64_t part) = 0;
};

// Of this process.
class OwnMemory final : public ProcessMemory {
 public:
  static constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;  // x86-64, and ARM with 4 KiB pages

  // FAILED_PRECONDITION: this kernel can't move memory to huge pages when asked (it is older than
  // Linux 6.1), its administrator has turned them off, or they have another size.
  static absl::StatusOr<OwnMemory> Open();
  OwnMemory(OwnMemory&& other) noexcept;
  OwnMemory& operator=(OwnMemory&&) = delete;
  ~OwnMemory() override;

  absl::StatusOr<uint64_t> AnonymousBytes() override;
  absl::StatusOr<std::vector<uint64_t>> FullParts() override;
  absl::Status MakeHuge(uint64_t part) override;

 private:
  OwnMemory(int pagemap, uint64_t page_bytes);

  int pagemap_;  // -1: moved from
  uint64_t page_bytes_;
};

// From now on this process gets no further huge pages, and the programs that it starts get none,
// whatever they ask for and however the kernel is set up. Logs a warning if the kernel refuses.
void ForbidHugePages();

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_HUGE_PAGES_PROCESS_MEMORY_H_
