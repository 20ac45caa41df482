// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/stream_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace nereid {
namespace {

// What became ready by completing `ticket`.
std::vector<int> Complete(StreamOrder<int>* order, uint64_t ticket, int answer) {
  std::vector<int> ready;
  order->Complete(ticket, answer, [&](int one) { ready.push_back(one); });
  return ready;
}

TEST(StreamOrderTest, AnswersInOrderPassAtOnce) {
  StreamOrder<int> order;
  const auto a = order.Add();
  const auto b = order.Add();
  EXPECT_EQ(Complete(&order, a, 1), std::vector<int>({1}));
  EXPECT_EQ(Complete(&order, b, 2), std::vector<int>({2}));
  EXPECT_EQ(order.open(), 0u);
}

TEST(StreamOrderTest, AnEarlyAnswerWaitsForThoseBeforeIt) {
  StreamOrder<int> order;
  const auto a = order.Add();
  const auto b = order.Add();
  const auto c = order.Add();
  EXPECT_TRUE(Complete(&order, c, 3).empty());
  EXPECT_EQ(Complete(&order, a, 1), std::vector<int>({1}));
  EXPECT_EQ(order.open(), 2u);
  EXPECT_EQ(Complete(&order, b, 2), (std::vector<int>{2, 3}));
}

TEST(StreamOrderTest, TicketsStayValidWhileOthersComeAndGo) {
  StreamOrder<int> order;
  const auto first = order.Add();
  EXPECT_EQ(Complete(&order, first, 1).size(), 1u);
  const auto second = order.Add();
  const auto third = order.Add();
  EXPECT_TRUE(Complete(&order, third, 3).empty());
  const auto fourth = order.Add();
  EXPECT_EQ(Complete(&order, second, 2), (std::vector<int>{2, 3}));
  EXPECT_EQ(Complete(&order, fourth, 4), std::vector<int>({4}));
}

TEST(StreamOrderTest, AnswersAreMovedOnly) {
  StreamOrder<std::unique_ptr<int>> order;
  const auto ticket = order.Add();
  int seen = 0;
  order.Complete(ticket, std::make_unique<int>(7), [&](std::unique_ptr<int> one) { seen = *one; });
  EXPECT_EQ(seen, 7);
}

// Whatever order answers come in, they leave in the order of their requests, and none is held when
// all before it are there.
TEST(StreamOrderTest, RandomOrdersComeOutSorted) {
  std::mt19937 random(20240607);
  for (int round = 0; round < 200; ++round) {
    StreamOrder<uint64_t> order;
    std::vector<uint64_t> waiting;  // tickets without an answer
    std::vector<bool> answered;     // by ticket
    std::vector<uint64_t> out;
    for (int step = 0; step < 100; ++step) {
      if (waiting.empty() || random() % 2 == 0) {
        waiting.push_back(order.Add());
        answered.push_back(false);
        continue;
      }
      const size_t pick = random() % waiting.size();
      const uint64_t ticket = waiting[pick];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(pick));
      answered[ticket] = true;
      order.Complete(ticket, ticket, [&](uint64_t one) { out.push_back(one); });
      const auto first_open = std::find(answered.begin(), answered.end(), false);
      ASSERT_EQ(out.size(), static_cast<size_t>(first_open - answered.begin()));
    }
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i);
  }
}

}  // namespace
}  // namespace nereid
