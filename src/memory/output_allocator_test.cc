// SPDX-License-Identifier: Apache-2.0
#include "memory/output_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/budget.h"

namespace nereid {
namespace {

OutputBuffer Wish(size_t byte_size) {
  OutputBuffer buffer;
  buffer.byte_size = byte_size;
  return buffer;
}

TEST(HeapOutputAllocatorTest, GivesAlignedMemoryOfTheSizeAskedFor) {
  const HeapOutputAllocator allocator(nullptr);
  for (const size_t size : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{100'000}}) {
    OutputBuffer buffer = Wish(size);
    ASSERT_TRUE(allocator.Allocate("out", nullptr, &buffer).ok());
    ASSERT_NE(buffer.base, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.base) % 64, 0u);
    std::memset(buffer.base, 0xAB, size);  // a sanitizer reports a buffer that is too small
    allocator.Release(buffer);
  }
}

TEST(HeapOutputAllocatorTest, IsAlwaysOnTheProcessor) {
  const HeapOutputAllocator allocator(nullptr);
  OutputBuffer buffer = Wish(8);
  buffer.place = {MemoryType::kGpu, 3};
  ASSERT_TRUE(allocator.Allocate("out", nullptr, &buffer).ok());
  EXPECT_EQ(buffer.place.type, MemoryType::kCpu);
  EXPECT_EQ(buffer.place.id, 0);
  allocator.Release(buffer);
}

TEST(HeapOutputAllocatorTest, NothingIsNoBuffer) {
  Budget budget("bytes", 10);
  const HeapOutputAllocator allocator(&budget);
  OutputBuffer buffer = Wish(0);
  ASSERT_TRUE(allocator.Allocate("out", nullptr, &buffer).ok());
  EXPECT_EQ(buffer.base, nullptr);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(HeapOutputAllocatorTest, CountsAgainstTheBudgetUntilReleased) {
  Budget budget("bytes", 100);
  const HeapOutputAllocator allocator(&budget);
  OutputBuffer first = Wish(70), second = Wish(40);
  ASSERT_TRUE(allocator.Allocate("out", nullptr, &first).ok());
  EXPECT_EQ(budget.used(), 70u);
  EXPECT_EQ(allocator.Allocate("out", nullptr, &second).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(second.base, nullptr);
  allocator.Release(first);
  EXPECT_EQ(budget.used(), 0u);
  ASSERT_TRUE(allocator.Allocate("out", nullptr, &second).ok());
  allocator.Release(second);
}

TEST(HeapOutputAllocatorTest, ASizeThatCannotBeIsAnError) {
  const HeapOutputAllocator allocator(nullptr);
  for (const size_t size :
       {std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() - 64}) {
    OutputBuffer buffer = Wish(size);
    const absl::Status status = allocator.Allocate("out", nullptr, &buffer);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("for output 'out'"), absl::string_view::npos) << status;
    EXPECT_EQ(buffer.base, nullptr);
  }
}

TEST(HeapOutputAllocatorTest, LentBytesAreTheBufferUntilReleased) {
  Budget budget("bytes", 100);
  const HeapOutputAllocator allocator(&budget, /*lends=*/true);
  const char bytes[70] = {};
  int releases = 0;
  const LentBytes lent{bytes, sizeof(bytes), [](void* userp) { ++*static_cast<int*>(userp); },
                       &releases};
  OutputBuffer buffer = Wish(0), second = Wish(0);
  buffer.place = {MemoryType::kGpu, 3};
  ASSERT_TRUE(allocator.Lend("out", nullptr, lent, &buffer).ok());
  EXPECT_EQ(buffer.base, bytes);
  EXPECT_EQ(buffer.byte_size, sizeof(bytes));
  EXPECT_EQ(buffer.place.type, MemoryType::kCpu);
  EXPECT_EQ(budget.used(), 70u);
  EXPECT_EQ(allocator.Lend("out", nullptr, lent, &second).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(releases, 0);
  // Any of these allocators gives them back.
  HeapOutputAllocator(nullptr).Release(buffer);
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(HeapOutputAllocatorTest, TakesNoBytesOfOthersUnlessItLends) {
  const HeapOutputAllocator allocator(nullptr);
  OutputBuffer buffer = Wish(0);
  const absl::Status status =
      allocator.Lend("out", nullptr, {"x", 1, [](void*) { FAIL(); }, nullptr}, &buffer);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(buffer.base, nullptr);
}

TEST(HeapOutputAllocatorTest, SaysThatBuffersLieInTheMemoryOfTheProcess) {
  const HeapOutputAllocator allocator(nullptr);
  MemoryPlace place{MemoryType::kGpu, 3};
  size_t size = 12;
  EXPECT_TRUE(allocator.Query("out", nullptr, &size, &place).ok());
  EXPECT_EQ(place.type, MemoryType::kCpu);
  EXPECT_EQ(place.id, 0);
  EXPECT_EQ(size, 12u);
  EXPECT_TRUE(allocator.Query(nullptr, nullptr, nullptr, &place).ok());
}

// An allocator that does not say where its buffers lie.
class SilentAllocator final : public OutputAllocator {
 public:
  absl::Status Allocate(const char*, void*, OutputBuffer*) const override {
    return absl::OkStatus();
  }
  void Release(const OutputBuffer&) const override {}
};

TEST(OutputAllocatorTest, CannotTellUnlessItSaysOtherwise) {
  MemoryPlace place;
  EXPECT_EQ(SilentAllocator().Query("out", nullptr, nullptr, &place).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_TRUE(SilentAllocator().Start(nullptr).ok());
}

}  // namespace
}  // namespace nereid
