// SPDX-License-Identifier: Apache-2.0
#include "frontends/shared_memory/mapped_segment.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "frontends/shared_memory/testing/test_segment.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

TEST(MappedSegmentTest, SharesTheBytesAtAnyOffset) {
  const TestSegment segment("mapped", 10'000);
  std::memcpy(segment.data() + 4999, "hello", 5);
  const auto mapped = MappedSegment::Map(segment.key(), 4999, 5001);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  EXPECT_EQ((*mapped)->size(), 5001u);
  EXPECT_EQ(std::memcmp((*mapped)->data(), "hello", 5), 0);
  (*mapped)->data()[5000] = 'z';
  EXPECT_EQ(segment.data()[9999], 'z');
  EXPECT_TRUE((*mapped)->IsWhole());
}

TEST(MappedSegmentTest, KeepsTheMemoryOfARemovedSegment) {
  auto segment = std::make_unique<TestSegment>("removed", 100);
  segment->data()[99] = 'k';
  const auto mapped = MappedSegment::Map(segment->key(), 0, 100);
  ASSERT_TRUE(mapped.ok());
  segment.reset();
  EXPECT_EQ((*mapped)->data()[99], 'k');
  EXPECT_TRUE((*mapped)->IsWhole());
}

TEST(MappedSegmentTest, RefusesWhatTheSegmentDoesNotHold) {
  const TestSegment segment("short", 100);
  EXPECT_TRUE(MappedSegment::Map(segment.key(), 99, 1).ok());
  for (const auto& [offset, size] : {std::pair<uint64_t, uint64_t>{0, 101},
                                     {100, 1},
                                     {101, 1},
                                     {~uint64_t{0}, 1},
                                     {1, ~uint64_t{0}}}) {
    const absl::Status status = MappedSegment::Map(segment.key(), offset, size).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << offset << " " << size;
    EXPECT_THAT(status.message(), HasSubstr("has 100 bytes"));
  }
}

TEST(MappedSegmentTest, RefusesWhatIsNoSegment) {
  for (const char* key : {"/nereid-test-absent", "/../dev/null", "", "/"}) {
    const absl::Status status = MappedSegment::Map(key, 0, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << key;
    EXPECT_EQ(status.message(), absl::StrCat("Unable to open shared memory region: '", key, "'"));
  }
}

TEST(MappedSegmentTest, NoticesThatTheSegmentWasTruncated) {
  const TestSegment segment("truncated", 100'000);
  const auto mapped = MappedSegment::Map(segment.key(), 0, 100'000);
  ASSERT_TRUE(mapped.ok());
  segment.Resize(99'999);
  EXPECT_FALSE((*mapped)->IsWhole());
  segment.Resize(100'000);
  EXPECT_TRUE((*mapped)->IsWhole());
  segment.Resize(10);
  EXPECT_EQ((*mapped)->data()[99'999], 0);
  // The bytes are no longer the segment's, although it has its size again.
  segment.Resize(100'000);
  EXPECT_FALSE((*mapped)->IsWhole());
}

}  // namespace
}  // namespace nereid
