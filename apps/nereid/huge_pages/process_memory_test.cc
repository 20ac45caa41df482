// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "huge_pages/memory_map.h"

namespace nereid {
namespace {

constexpr size_t kPart = OwnMemory::kHugePageBytes;

// Memory of its own for a test, of whole parts, nothing of it touched.
class Region {
 public:
  explicit Region(size_t parts) : bytes_(parts * kPart) {
    whole_ =
        mmap(nullptr, bytes_ + kPart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin_ = (reinterpret_cast<uintptr_t>(whole_) + kPart - 1) / kPart * kPart;
  }
  ~Region() { munmap(whole_, bytes_ + kPart); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  uint64_t part(size_t i) const { return begin_ + i * kPart; }
  std::byte* data(size_t i) { return reinterpret_cast<std::byte*>(part(i)); }

 private:
  const size_t bytes_;
  void* whole_;
  uint64_t begin_;
};

// Bytes in huge pages of the mapping at `address`.
uint64_t HugeBytes(uint64_t address) {
  std::ifstream smaps("/proc/self/smaps");
  for (const Mapping& mapping : AnonymousMappings(smaps)) {
    if (mapping.begin <= address && address < mapping.end) return mapping.huge;
  }
  return 0;
}

class OwnMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<OwnMemory> memory = OwnMemory::Open();
    if (!memory.ok()) GTEST_SKIP() << memory.status().message();
    memory_.emplace(*std::move(memory));
  }
  bool IsFull(uint64_t part) {
    const auto parts = memory_->FullParts();
    EXPECT_TRUE(parts.ok()) << parts.status();
    return parts.ok() && std::count(parts->begin(), parts->end(), part) == 1;
  }

  std::optional<OwnMemory> memory_;
};

TEST_F(OwnMemoryTest, FindsThePartsThatAreFull) {
  Region region(3);
  std::memset(region.data(0), 1, kPart);
  std::memset(region.data(2), 1, kPart - 4096);
  EXPECT_TRUE(IsFull(region.part(0)));
  EXPECT_FALSE(IsFull(region.part(1)));
  EXPECT_FALSE(IsFull(region.part(2)));
  madvise(region.data(0) + 4096, 4096, MADV_DONTNEED);
  EXPECT_FALSE(IsFull(region.part(0)));
}

TEST_F(OwnMemoryTest, CountsWhatIsTouched) {
  const auto before = memory_->AnonymousBytes();
  Region region(8);
  for (size_t i = 0; i < 8; ++i) std::memset(region.data(i), 1, kPart);
  const auto after = memory_->AnonymousBytes();
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_GE(*after, *before + 7 * kPart);  // the kernel's counters may be late by some pages
}

TEST_F(OwnMemoryTest, MovesAPartAndKeepsItsBytes) {
  Region region(1);
  for (size_t i = 0; i < kPart; ++i) region.data(0)[i] = static_cast<std::byte>(i * 7 >> 3);
  if (HugeBytes(region.part(0)) != 0) GTEST_SKIP() << "the kernel gave a huge page unasked";
  const absl::Status moved = memory_->MakeHuge(region.part(0));
  if (absl::IsResourceExhausted(moved)) GTEST_SKIP() << "the machine has no huge page left";
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_EQ(HugeBytes(region.part(0)), kPart);
  for (size_t i = 0; i < kPart; ++i) {
    ASSERT_EQ(region.data(0)[i], static_cast<std::byte>(i * 7 >> 3)) << i;
  }
}

TEST_F(OwnMemoryTest, MemoryThatIsGoneIsAnError) {
  uint64_t part = 0;
  {
    Region region(1);
    std::memset(region.data(0), 1, kPart);
    part = region.part(0);
  }
  EXPECT_FALSE(memory_->MakeHuge(part).ok());
}

}  // namespace
}  // namespace nereid
