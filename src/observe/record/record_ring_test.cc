// SPDX-License-Identifier: Apache-2.0
#include "observe/record/record_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Four {
  uint64_t a, b, c, d;
};

std::vector<uint64_t> Read(const RecordRing<Four>& ring) {
  std::vector<uint64_t> numbers;
  ring.Read([&](const Four& four) { numbers.push_back(four.a); });
  return numbers;
}

TEST(RecordRingTest, TheNewestComeFirstAndReplaceTheOldest) {
  RecordRing<Four> ring(3);
  EXPECT_EQ(ring.capacity(), 4u);
  EXPECT_THAT(Read(ring), IsEmpty());
  for (uint64_t i = 1; i <= 2; ++i) ring.Write({i, i, i, i});
  EXPECT_THAT(Read(ring), ElementsAre(2, 1));
  for (uint64_t i = 3; i <= 9; ++i) ring.Write({i, i, i, i});
  EXPECT_THAT(Read(ring), ElementsAre(9, 8, 7, 6));
}

TEST(RecordRingTest, WithoutRoomNothingIsKept) {
  RecordRing<Four> ring(0);
  ring.Write({1, 1, 1, 1});
  EXPECT_THAT(Read(ring), IsEmpty());
}

TEST(RecordRingTest, AFollowerReadsEachRecordOnce) {
  RecordRing<Four> ring(4);
  std::vector<uint64_t> seen;
  uint64_t next = 0;
  uint64_t lost = 0;
  const auto follow = [&] {
    seen.clear();
    next = ring.ReadOn(
        next, [&](const Four& four) { seen.push_back(four.a); }, &lost);
    return seen;
  };
  EXPECT_THAT(follow(), ElementsAre());
  for (uint64_t i = 1; i <= 3; ++i) ring.Write({i, i, i, i});
  EXPECT_THAT(follow(), ElementsAre(1, 2, 3));
  EXPECT_THAT(follow(), ElementsAre());
  for (uint64_t i = 4; i <= 10; ++i) ring.Write({i, i, i, i});
  EXPECT_THAT(follow(), ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(lost, 3u);
}

// A tail of zeros is not written, but it is read, also where a longer record was before.
TEST(RecordRingTest, ZerosAtTheEnd) {
  RecordRing<Four> ring(1);
  const std::vector<Four> records = {{1, 2, 3, 4}, {5, 6, 0, 0}, {0, 0, 7, 0}, {0, 0, 0, 0}};
  for (const Four& wanted : records) {
    ring.Write(wanted);
    std::vector<std::array<uint64_t, 4>> found;
    ring.Read([&](const Four& four) { found.push_back({four.a, four.b, four.c, four.d}); });
    EXPECT_THAT(found, ElementsAre(std::array{wanted.a, wanted.b, wanted.c, wanted.d}));
  }
}

// Goes round a small ring while readers copy it: no record is ever mixed from two.
template <RingWriters kWriters>
void WriteWhileOthersRead(int writers) {
  constexpr uint64_t kRounds = 50'000;
  RecordRing<Four, kWriters> ring(4);
  std::atomic<int> writing{writers};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      for (uint64_t i = 1; i <= kRounds; ++i) {
        const uint64_t number = 2 * i + static_cast<uint64_t>(writer);
        ring.Write({number, ~number, number * 3, i % 2 == 0 ? 0 : number ^ 0x5555});
      }
      --writing;
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      while (writing > 0) {
        ring.Read([&](const Four& four) {
          ASSERT_EQ(four.b, ~four.a);
          ASSERT_EQ(four.c, four.a * 3);
          ASSERT_EQ(four.d, four.a / 2 % 2 == 0 ? 0 : four.a ^ 0x5555);
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t i = 1; i <= 4; ++i) ring.Write({i, i, i, i});
  std::vector<uint64_t> numbers;
  ring.Read([&](const Four& four) { numbers.push_back(four.a); });
  EXPECT_THAT(numbers, ElementsAre(4, 3, 2, 1)) << "no slot stays locked";
}

TEST(RecordRingTest, NoRecordIsTorn) { WriteWhileOthersRead<RingWriters::kMany>(2); }

TEST(RecordRingTest, NoRecordOfTheOnlyWriterIsTorn) { WriteWhileOthersRead<RingWriters::kOne>(1); }

}  // namespace
}  // namespace nereid
