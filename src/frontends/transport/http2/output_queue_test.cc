// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/output_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nereid::http2 {
namespace {

using testing::ElementsAre;

std::vector<std::string> Pieces(const OutputQueue& queue) {
  std::vector<iovec> pieces(64);
  pieces.resize(queue.Gather(absl::MakeSpan(pieces)));
  std::vector<std::string> texts;
  for (const iovec& piece : pieces) {
    texts.emplace_back(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  return texts;
}

std::string Text(const OutputQueue& queue) {
  std::string text;
  for (const std::string& piece : Pieces(queue)) text += piece;
  return text;
}

const char* FirstAddress(const OutputQueue& queue) {
  std::array<iovec, 1> piece{};
  EXPECT_EQ(queue.Gather(absl::MakeSpan(piece)), 1u);
  return static_cast<const char*>(piece[0].iov_base);
}

TEST(OutputQueueTest, IsEmptyAtFirst) {
  const OutputQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_THAT(Pieces(queue), ElementsAre());
}

TEST(OutputQueueTest, CopiedBytesThatFollowEachOtherAreOnePiece) {
  OutputQueue queue;
  std::string text = "abc";
  queue.Append(text);
  text = "def";
  queue.Append(text);
  text = "xxx";
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_THAT(Pieces(queue), ElementsAre("abcdef"));
}

TEST(OutputQueueTest, SharedBytesStayWhereTheyAreUntilTheyHaveLeft) {
  OutputQueue queue;
  auto owner = std::make_shared<std::string>(100, 's');
  queue.Append("head");
  queue.AppendShared(*owner, owner);
  queue.Append("tail");
  const std::weak_ptr<std::string> watch = owner;
  const char* const address = owner->data();
  owner.reset();
  EXPECT_THAT(Pieces(queue), ElementsAre("head", std::string(100, 's'), "tail"));

  queue.Consume(4);
  EXPECT_EQ(FirstAddress(queue), address);
  queue.Consume(99);
  EXPECT_EQ(FirstAddress(queue), address + 99);
  EXPECT_FALSE(watch.expired());
  queue.Consume(1);
  EXPECT_TRUE(watch.expired());
  EXPECT_THAT(Pieces(queue), ElementsAre("tail"));
}

TEST(OutputQueueTest, SharedBytesMayHaveNoOwner) {
  OutputQueue queue;
  queue.AppendShared("constant", nullptr);
  EXPECT_EQ(Text(queue), "constant");
}

TEST(OutputQueueTest, NoBytesAreNoPieceAndTheirOwnerIsNotKept) {
  OutputQueue queue;
  auto owner = std::make_shared<std::string>();
  queue.Append("");
  queue.AppendShared(*owner, owner);
  queue.AppendShared(absl::string_view(), nullptr);
  EXPECT_TRUE(queue.empty());
  EXPECT_THAT(Pieces(queue), ElementsAre());
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(OutputQueueTest, GathersOnlyAsManyPiecesAsFit) {
  OutputQueue queue;
  for (const char* text : {"a", "b", "c"}) queue.AppendShared(text, nullptr);
  std::array<iovec, 2> pieces{};
  EXPECT_EQ(queue.Gather(absl::MakeSpan(pieces)), 2u);
  EXPECT_EQ(queue.Gather({}), 0u);
  queue.Consume(2);
  EXPECT_EQ(queue.Gather(absl::MakeSpan(pieces)), 1u);
}

TEST(OutputQueueTest, MovesPartsOfPiecesWithoutCopyingSharedOnes) {
  OutputQueue from, to;
  auto owner = std::make_shared<std::string>("0123456789");
  to.Append(">");
  from.Append("abcd");
  from.AppendShared(*owner, owner);
  from.MoveTo(&to, 7);
  EXPECT_THAT(Pieces(to), ElementsAre(">abcd", "012"));
  EXPECT_THAT(Pieces(from), ElementsAre("3456789"));
  EXPECT_EQ(FirstAddress(from), owner->data() + 3);
  EXPECT_EQ(owner.use_count(), 3);

  from.MoveTo(&to, 0);
  from.MoveTo(&to, 7);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(Text(to), ">abcd0123456789");
  to.Consume(5);
  EXPECT_EQ(FirstAddress(to), owner->data());
  to.Consume(10);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(OutputQueueTest, ClearReleasesTheOwners) {
  OutputQueue queue;
  auto owner = std::make_shared<std::string>(200 << 10, 'x');
  queue.Append(*owner);
  for (int i = 0; i < 1000; ++i) queue.AppendShared(*owner, owner);
  queue.Clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_THAT(Pieces(queue), ElementsAre());
  queue.Append("again");
  EXPECT_EQ(Text(queue), "again");
}

TEST(OutputQueueTest, ClearKeepsNoLargeMemory) {
  OutputQueue queue;
  queue.Append(std::string(1 << 20, 'x'));
  EXPECT_GE(queue.memory(), 1u << 20);
  queue.Clear();
  EXPECT_LT(queue.memory(), 100'000u);
}

// A client that reads a little slower than it is written to: its queue is never empty.
TEST(OutputQueueTest, MemoryIsBoundedByWhatWaitsThoughItIsNeverEmpty) {
  OutputQueue queue, never_empty;
  const std::string bytes(10'000, 'c');
  const auto owner = std::make_shared<std::string>(10'000, 's');
  never_empty.Append("x");
  queue.Append("x");
  size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    queue.Append(bytes);
    queue.AppendShared(*owner, owner);
    queue.Append("head of a frame");
    queue.MoveTo(&never_empty, queue.size() - 1);
    never_empty.Consume(never_empty.size() - 1);
    ASSERT_EQ(queue.size(), 1u);
    most = std::max({most, queue.memory(), never_empty.memory()});
  }
  EXPECT_LT(most, 200'000u);
  EXPECT_EQ(Text(queue), "e");
  EXPECT_EQ(Text(never_empty), "m");
}

// The same steps with strings, which is slow but surely right. The queues are rarely empty.
TEST(OutputQueueTest, IsAStringForAnySteps) {
  std::minstd_rand random(7);
  const auto below = [&](size_t n) { return random() % n; };
  const auto owner = std::make_shared<std::string>(10'000, 'o');
  for (char& c : *owner) c = static_cast<char>('A' + below(50));
  OutputQueue queue, next;
  std::string expected, expected_next;
  for (int i = 0; i < 20'000; ++i) {
    const size_t most = below(4) == 0 ? 2000 : 20;
    const absl::string_view piece = absl::string_view(*owner).substr(below(8000), 1 + below(most));
    switch (below(4)) {
      case 0:
        queue.Append(piece);
        expected.append(piece.data(), piece.size());
        break;
      case 1:
        queue.AppendShared(piece, owner);
        expected.append(piece.data(), piece.size());
        break;
      case 2: {
        const size_t n = std::min(below(1000), queue.size());
        queue.MoveTo(&next, n);
        expected_next += expected.substr(0, n);
        expected.erase(0, n);
        break;
      }
      default: {
        const size_t n = std::min(below(1000), next.size());
        next.Consume(n);
        expected_next.erase(0, n);
      }
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(next.size(), expected_next.size());
    if (i % 20 != 0) continue;
    // Text() is the first 64 pieces.
    ASSERT_TRUE(absl::string_view(expected).substr(0, Text(queue).size()) == Text(queue)) << i;
    ASSERT_TRUE(absl::string_view(expected_next).substr(0, Text(next).size()) == Text(next)) << i;
  }
  EXPECT_GT(expected_next.size(), 1000u);
}

TEST(OutputQueue, TakesOverMemoryWhenEmpty) {
  OutputQueue queue;
  std::string first(100, 'a');
  const char* const bytes = first.data();
  queue.AppendOwned(std::move(first));
  std::array<iovec, 4> pieces;
  ASSERT_EQ(queue.Gather(absl::MakeSpan(pieces)), 1u);
  EXPECT_EQ(pieces[0].iov_base, bytes);
  queue.AppendOwned(std::string(300, 'b'));
  queue.Append("c");
  EXPECT_EQ(Text(queue), std::string(100, 'a') + std::string(300, 'b') + "c");
  queue.Consume(queue.size());
  queue.AppendOwned("");
  EXPECT_TRUE(queue.empty());
  queue.AppendOwned("d");
  EXPECT_THAT(Pieces(queue), ElementsAre("d"));
}

}  // namespace
}  // namespace nereid::http2
