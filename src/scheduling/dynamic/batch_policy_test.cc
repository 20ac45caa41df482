// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/batch_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "infer/testing/fake_model.h"

namespace nereid {

std::ostream& operator<<(std::ostream& out, BatchReason why) { return out << NameOf(why); }

namespace {

using Why = BatchReason;
using std::chrono::microseconds;

constexpr TimePoint kStart = TimePoint(std::chrono::seconds(100));

struct Item {
  uint32_t units = 1;
  int shape = 0;  // requests of different shapes may not share a batch
  TimePoint queued_at = kStart;
};

class FakeQueue final : public QueueView {
 public:
  size_t size() const override { return items.size(); }
  uint32_t units(size_t index) const override { return items[index].units; }
  TimePoint queued_at(size_t index) const override { return items[index].queued_at; }
  bool Compatible(size_t a, size_t b) const override { return items[a].shape == items[b].shape; }

  std::deque<Item> items;
};

struct Batching {
  int32_t max_batch = 8;
  std::vector<int32_t> preferred;
  microseconds delay{0};
  bool enabled = true;
};

BatchPolicy MakePolicy(const Batching& batching) {
  ModelBuilder builder;
  builder.MaxBatch(batching.max_batch);
  if (batching.enabled) builder.Batching(batching.preferred, batching.delay);
  return BatchPolicy(builder.Build());
}

FakeQueue QueueOf(const std::vector<uint32_t>& units) {
  FakeQueue queue;
  for (const uint32_t u : units) queue.items.push_back({u, 0, kStart});
  return queue;
}

BatchDecision DecideAfter(const Batching& batching, const FakeQueue& queue, microseconds waited) {
  BatchCursor cursor;
  return MakePolicy(batching).Decide(queue, kStart + waited, &cursor);
}

// ---- The rules, case by case

struct Case {
  const char* name;
  Batching batching;
  std::vector<uint32_t> queue;  // units
  microseconds waited;          // since the oldest request was queued
  size_t take;
  Why why;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class BatchPolicyTableTest : public ::testing::TestWithParam<Case> {};

TEST_P(BatchPolicyTableTest, Decides) {
  const Case& c = GetParam();
  const BatchDecision decision = DecideAfter(c.batching, QueueOf(c.queue), c.waited);
  EXPECT_EQ(decision.take, c.take);
  if (c.take > 0) {
    EXPECT_EQ(decision.why, c.why);
  }
  if (c.take > 0 || c.queue.empty()) {
    EXPECT_FALSE(decision.wake_at.has_value());
  } else {
    EXPECT_EQ(decision.wake_at, kStart + c.batching.delay) << "asked again when the delay is over";
  }
}

constexpr microseconds kNow{0}, kHalf{500}, kLate{1000}, kDelay{1000};
using Ones = std::vector<uint32_t>;

const Batching kNone{8, {}, kNow, /*enabled=*/false};
const Batching kPlain{8, {}, kNow};          // dynamic_batching {}
const Batching kDelayed{8, {}, kDelay};      // with a delay only
const Batching kPreferred{8, {2, 6}, kNow};  // preferred sizes only
const Batching kBoth{8, {2, 6}, kDelay};

INSTANTIATE_TEST_SUITE_P(
    NoBatching, BatchPolicyTableTest,
    ::testing::Values(
        Case{"empty", kNone, {}, kNow, 0, Why::kNotBatched},
        Case{"one", kNone, {1}, kNow, 1, Why::kNotBatched},
        Case{"one_of_many", kNone, {1, 1, 1}, kNow, 1, Why::kNotBatched},
        Case{"a_large_one", kNone, {5, 1}, kNow, 1, Why::kNotBatched},
        Case{"no_batch_dimension", {0, {}, kNow}, {1, 1}, kNow, 1, Why::kNotBatched},
        Case{"no_batch_dimension_and_delay", {0, {}, kDelay}, {1}, kNow, 1, Why::kNotBatched}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    NoDelay, BatchPolicyTableTest,
    ::testing::Values(
        // An empty dynamic_batching takes all queued requests, up to the largest batch.
        Case{"one", kPlain, {1}, kNow, 1, Why::kIdleInstance},
        Case{"some", kPlain, {1, 2, 3}, kNow, 3, Why::kIdleInstance},
        Case{"all_of_a_full_batch", kPlain, Ones(8, 1), kNow, 8, Why::kFull},
        Case{"no_more_than_a_full_batch", kPlain, Ones(20, 1), kNow, 8, Why::kFull},
        Case{"requests_are_not_split", kPlain, {3, 3, 3}, kNow, 2, Why::kFull},
        Case{"one_at_the_limit", kPlain, {8, 1}, kNow, 1, Why::kFull},
        // Preferred sizes are only targets.
        Case{"below_the_first_preferred", kPreferred, {1}, kNow, 1, Why::kIdleInstance},
        Case{"preferred_reached", kPreferred, {1, 1}, kNow, 2, Why::kPreferredSize},
        Case{"between_preferred_sizes", kPreferred, {1, 1, 1}, kNow, 2, Why::kPreferredSize},
        Case{"between_without_reaching_one", kPreferred, {3}, kNow, 1, Why::kIdleInstance},
        Case{"the_biggest_preferred", kPreferred, Ones(7, 1), kNow, 6, Why::kPreferredSize},
        Case{"past_the_biggest_without_reaching_one",
             kPreferred,
             {3, 4},
             kNow,
             1,
             Why::kPreferredSize},
        Case{"a_single_one_past_the_biggest", kPreferred, {7}, kNow, 1, Why::kPreferredSize}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Delay, BatchPolicyTableTest,
    ::testing::Values(
        Case{"waits", kDelayed, {1, 2, 3}, kHalf, 0, Why::kIdleInstance},
        Case{"waits_no_longer_than_asked", kDelayed, {1, 2, 3}, kLate, 3, Why::kDelayOver},
        Case{"a_full_batch_does_not_wait", kDelayed, {4, 4}, kNow, 2, Why::kFull},
        Case{"one_full_request_does_not_wait", kDelayed, {8}, kNow, 1, Why::kFull},
        Case{"what_does_not_fit_ends_the_wait", kDelayed, {6, 3}, kNow, 1, Why::kFull},
        Case{"preferred_is_sent_at_once", kBoth, {1, 1}, kNow, 2, Why::kPreferredSize},
        Case{"the_biggest_preferred_at_once", kBoth, Ones(7, 1), kNow, 6, Why::kPreferredSize},
        Case{"no_preferred_size_waits", kBoth, {3}, kHalf, 0, Why::kIdleInstance},
        Case{"no_preferred_size_waits_together", kBoth, {3, 1}, kHalf, 0, Why::kIdleInstance},
        Case{"past_the_biggest_does_not_wait", kBoth, {3, 4}, kNow, 1, Why::kPreferredSize},
        // Once the delay is over, all that fits is taken, whatever the preferred sizes.
        Case{"late_takes_all_that_fits", kBoth, Ones(7, 1), kLate, 7, Why::kDelayOver},
        Case{"late_takes_a_full_batch", kBoth, Ones(20, 1), kLate, 8, Why::kFull},
        Case{"late_takes_what_is_there", kBoth, {3, 1}, kLate, 2, Why::kDelayOver}),
    [](const auto& info) { return info.param.name; });

// ---- Shapes

TEST(BatchPolicyTest, AShapeChangeSendsWhatIsPendingAtOnce) {
  for (const Batching& batching : {kPlain, kDelayed, kPreferred, kBoth}) {
    FakeQueue queue = QueueOf({1, 1, 1});
    queue.items[1].shape = 1;
    const BatchDecision decision = DecideAfter(batching, queue, kNow);
    EXPECT_EQ(decision.take, 1u);
    EXPECT_EQ(decision.why, Why::kShapeChange);
  }
}

TEST(BatchPolicyTest, APreferredSizeInFrontOfAShapeChangeIsSent) {
  FakeQueue queue = QueueOf({1, 1, 1, 1});
  queue.items[3].shape = 1;
  EXPECT_EQ(DecideAfter(kBoth, queue, kNow).take, 2u);
  EXPECT_EQ(DecideAfter(kBoth, queue, kLate).take, 3u);
}

TEST(BatchPolicyTest, ShapesAreComparedWithTheOldest) {
  FakeQueue queue = QueueOf({1, 1, 1});
  queue.items[2].shape = 1;
  EXPECT_EQ(DecideAfter(kPlain, queue, kNow).take, 2u);
}

// ---- Time

TEST(BatchPolicyTest, TheDelayIsThatOfTheOldestRequest) {
  FakeQueue queue = QueueOf({1, 1});
  queue.items[1].queued_at = kStart + kHalf;
  EXPECT_EQ(DecideAfter(kDelayed, queue, kHalf).wake_at, kStart + kDelay);
  EXPECT_EQ(DecideAfter(kDelayed, queue, kLate).take, 2u);
}

TEST(BatchPolicyTest, AnEmptyQueueHasNothingToWaitFor) {
  EXPECT_FALSE(DecideAfter(kDelayed, FakeQueue(), kNow).wake_at.has_value());
}

// ---- The cursor

TEST(BatchPolicyTest, LooksAtEveryRequestOnce) {
  class CountingQueue final : public QueueView {
   public:
    size_t size() const override { return count; }
    uint32_t units(size_t) const override {
      ++looks;
      return 1;
    }
    TimePoint queued_at(size_t) const override { return kStart; }
    bool Compatible(size_t, size_t) const override { return true; }
    size_t count = 0;
    mutable size_t looks = 0;
  };
  const BatchPolicy policy = MakePolicy({2000, {}, kDelay});
  CountingQueue queue;
  BatchCursor cursor;
  for (queue.count = 1; queue.count < 1000; ++queue.count) {
    ASSERT_EQ(policy.Decide(queue, kStart, &cursor).take, 0u);
  }
  EXPECT_EQ(queue.looks, 999u);
}

// ---- Against a reference implementation

// The same rules applied to the whole queue at once, with prefix sums and without a cursor.
BatchDecision Reference(const Batching& batching, const FakeQueue& queue, TimePoint now) {
  const auto& items = queue.items;
  BatchDecision decision;
  if (items.empty()) return decision;
  const uint64_t limit = batching.enabled ? static_cast<uint64_t>(batching.max_batch) : 0;
  std::vector<int32_t> preferred = batching.preferred;
  if (!batching.enabled) {
    preferred.clear();
  } else if (preferred.empty() && batching.max_batch > 0) {
    preferred = {batching.max_batch};
  }
  const uint64_t largest = preferred.empty() ? 0 : static_cast<uint64_t>(preferred.back());
  const auto sum = [&](size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; ++i) total += items[i].units;
    return total;
  };
  // How many requests can share a batch, and whether another request waits behind them.
  size_t joined = 1;
  while (joined < items.size() && sum(joined + 1) <= limit &&
         items[joined].shape == items[0].shape) {
    ++joined;
  }
  const bool blocked = joined < items.size();
  // The longest prefix of a preferred size. If there is none, the longest prefix that does not
  // exceed the largest preferred size.
  size_t mark = 0;
  for (size_t count = 1; count <= joined; ++count) {
    const auto size = static_cast<int32_t>(sum(count));
    if (std::find(preferred.begin(), preferred.end(), size) != preferred.end()) mark = count;
  }
  for (size_t count = 1; mark == 0 && count <= joined && count < items.size(); ++count) {
    if (sum(count + 1) > largest) mark = count;
  }
  const Duration delay = batching.enabled ? Duration(batching.delay) : Duration{0};
  const bool late = delay > Duration{0} && now - items[0].queued_at >= delay;
  if (mark > 0 && !late) {
    decision.take = mark;
  } else if (blocked || late || delay == Duration{0} || sum(joined) >= largest) {
    decision.take = joined;
  } else {
    decision.wake_at = items[0].queued_at + delay;
  }
  return decision;
}

class BatchPolicyPropertyTest : public ::testing::TestWithParam<unsigned> {
 protected:
  uint32_t Pick(uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random_);
  }

  Batching PickBatching() {
    Batching batching;
    batching.enabled = Pick(0, 9) != 0;
    batching.max_batch = static_cast<int32_t>(Pick(0, 12));
    if (Pick(0, 1) == 1) batching.delay = microseconds(Pick(1, 50));
    for (int32_t size = 1; size <= batching.max_batch; ++size) {
      if (Pick(0, 4) == 0) batching.preferred.push_back(size);
    }
    return batching;
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(BatchPolicyPropertyTest, TheCursorChangesNoDecision) {
  const Batching batching = PickBatching();
  const BatchPolicy policy = MakePolicy(batching);
  const uint32_t largest_request = std::max(1, batching.max_batch);
  FakeQueue queue;
  BatchCursor cursor;
  TimePoint now = kStart;
  size_t arrived = 0, taken = 0;
  for (int step = 0; step < 400; ++step) {
    if (Pick(0, 2) != 0) {
      queue.items.push_back({Pick(1, largest_request), Pick(0, 5) == 0 ? 1 : 0, now});
      ++arrived;
    } else {
      now += microseconds(Pick(0, 30));
    }
    if (Pick(0, 3) == 0) continue;  // no decision: several requests arrive between decisions
    const BatchDecision expected = Reference(batching, queue, now);
    const BatchDecision decision = policy.Decide(queue, now, &cursor);
    ASSERT_EQ(decision.take, expected.take) << "step " << step;
    ASSERT_EQ(decision.wake_at, expected.wake_at) << "step " << step;
    if (decision.take == 0) continue;
    uint64_t units = 0;
    for (size_t i = 0; i < decision.take; ++i) units += queue.items[i].units;
    if (decision.take > 1) {
      ASSERT_LE(units, static_cast<uint64_t>(batching.max_batch));
    }
    queue.items.erase(queue.items.begin(),
                      queue.items.begin() + static_cast<std::ptrdiff_t>(decision.take));
    taken += decision.take;
    cursor = BatchCursor{};
  }
  EXPECT_EQ(arrived, taken + queue.items.size());
}

TEST_P(BatchPolicyPropertyTest, NothingIsLeftWaitingAfterTheDelay) {
  const Batching batching = PickBatching();
  const BatchPolicy policy = MakePolicy(batching);
  FakeQueue queue;
  const uint32_t count = Pick(1, 40);
  for (uint32_t i = 0; i < count; ++i) {
    queue.items.push_back({Pick(1, std::max(1, batching.max_batch)), 0, kStart});
  }
  for (size_t batches = 0; !queue.items.empty(); ++batches) {
    ASSERT_LE(batches, count);
    BatchCursor cursor;
    const BatchDecision decision = policy.Decide(queue, kStart + batching.delay, &cursor);
    ASSERT_GT(decision.take, 0u);
    queue.items.erase(queue.items.begin(),
                      queue.items.begin() + static_cast<std::ptrdiff_t>(decision.take));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BatchPolicyPropertyTest, ::testing::Range(0u, 200u));

}  // namespace
}  // namespace nereid
