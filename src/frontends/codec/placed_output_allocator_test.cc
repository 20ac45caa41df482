// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/placed_output_allocator.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace nereid {
namespace {

class PlacedOutputAllocatorTest : public ::testing::Test {
 protected:
  PlacedOutputAllocatorTest() {
    formats_.named.push_back({"plain", {}, {}});
    formats_.named.push_back({"placed", {}, {memory_.data(), memory_.size(), {}, nullptr}});
  }

  absl::Status Allocate(const char* name, size_t byte_size) {
    buffer_ = OutputBuffer();
    buffer_.byte_size = byte_size;
    return allocator_.Allocate(name, &formats_, &buffer_);
  }

  std::array<char, 100> memory_;
  OutputFormats formats_;
  OutputBuffer buffer_;
  const PlacedOutputAllocator allocator_{nullptr};
};

TEST_F(PlacedOutputAllocatorTest, OutputsGoWhereTheRequestSays) {
  ASSERT_TRUE(Allocate("placed", 100).ok());
  EXPECT_EQ(buffer_.base, memory_.data());
  allocator_.Release(buffer_);  // frees nothing
  for (const char* name : {"plain", "unnamed"}) {
    ASSERT_TRUE(Allocate(name, 100).ok());
    EXPECT_NE(buffer_.base, memory_.data());
    allocator_.Release(buffer_);
  }
  EXPECT_TRUE(formats_.HasPlaces());
  EXPECT_FALSE(OutputFormats().HasPlaces());
}

TEST_F(PlacedOutputAllocatorTest, APlaceOnAGpuIsToldBeforeAndAfter) {
  EXPECT_FALSE(formats_.OnGpu());
  formats_.named[1].place.place = {MemoryType::kGpu, 2};
  EXPECT_TRUE(formats_.OnGpu());
  for (const char* name : {"placed", "plain"}) {
    const bool on_gpu = std::string(name) == "placed";
    MemoryPlace place{MemoryType::kGpu, 5};
    ASSERT_TRUE(allocator_.Query(name, &formats_, nullptr, &place).ok());
    EXPECT_EQ(place.type, on_gpu ? MemoryType::kGpu : MemoryType::kCpu) << name;
    EXPECT_EQ(place.id, on_gpu ? 2 : 0) << name;
    ASSERT_TRUE(Allocate(name, 100).ok());
    EXPECT_EQ(buffer_.place.type, place.type) << name;
    EXPECT_EQ(buffer_.place.id, place.id) << name;
    allocator_.Release(buffer_);
  }
  EXPECT_EQ(allocator_.FindPlace("placed", &formats_).file, nullptr);
  const OutputAllocators allocators(nullptr);
  EXPECT_TRUE(allocators.For(formats_, true).on_gpu);
}

TEST_F(PlacedOutputAllocatorTest, ATensorThatIsTooLargeIsAnError) {
  const absl::Status status = Allocate("placed", 101);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(),
            "shared memory size specified with the request for output 'placed' (100 bytes) should "
            "be at least 101 bytes to hold the results");
  EXPECT_EQ(buffer_.base, nullptr);
}

TEST(OutputAllocatorsTest, OnlyOutputsSentAsTheyAreAreLent) {
  const OutputAllocators allocators(nullptr);
  OutputFormats formats;
  EXPECT_EQ(allocators.For(formats, true).allocator, &allocators.lending);
  EXPECT_EQ(allocators.For(formats, false).allocator, &allocators.heap);
  formats.fallback.classification = 1;
  EXPECT_EQ(allocators.For(formats, true).allocator, &allocators.heap);
  formats.fallback.classification = 0;
  formats.named.push_back({"a", {true, 0}, {}});
  formats.named.push_back({"b", {true, 3}, {}});
  EXPECT_EQ(allocators.For(formats, true).allocator, &allocators.heap);
  char memory = 0;
  formats.named[1] = {"b", {true, 0}, {&memory, 1, {}, nullptr}};
  EXPECT_EQ(allocators.For(formats, true).allocator, &allocators.placed);
}

TEST(OutputFormatsTest, AllBinary) {
  OutputFormats formats;
  EXPECT_FALSE(formats.AllBinary());
  formats.fallback.binary = true;
  EXPECT_TRUE(formats.AllBinary());
  // Outputs that are not named are not sent.
  formats.fallback.binary = false;
  formats.named.push_back({"a", {true, 0}, {}});
  EXPECT_TRUE(formats.AllBinary());
  formats.named.push_back({"b", {false, 0}, {}});
  EXPECT_FALSE(formats.AllBinary());
}

TEST_F(PlacedOutputAllocatorTest, SomeoneElsesHeapBuffersAreNotTaken) {
  // Otherwise an ensemble would hand over its own buffer instead of filling the place.
  EXPECT_FALSE(allocator_.TakesHeapBuffers());
}

}  // namespace
}  // namespace nereid
