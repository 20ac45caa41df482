// SPDX-License-Identifier: Apache-2.0
// BatchFormer against a simple and slow model of its rules.
#include "scheduling/dynamic/batch_former.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/testing/repeats.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

constexpr int kRequests = Repeats(100'000);

constexpr TimePoint kStart = TimePoint(std::chrono::seconds(100));

// The rules of docs/reference/batching.md sections 2 and 3, applied to the whole queue each time.
class NaiveQueue {
 public:
  struct Item {
    size_t id = 0;
    uint64_t level = 0;
    TimePoint queued_at;
    std::optional<TimePoint> deadline;
    uint64_t units = 1;
    int64_t length = 1;
    size_t back = 0;  // position among the requests that were moved back; 0: it was not
  };

  explicit NaiveQueue(const CompiledModel& model)
      : batching_(model.batching), max_(static_cast<uint64_t>(model.max_batch_size)) {}

  bool empty() const { return items_.empty(); }

  // False: the level of `item` is full.
  bool Push(Item item, uint64_t asked_us) {
    const QueuePolicy& policy = batching_.PolicyOf(item.level);
    const auto in_level = std::count_if(
        items_.begin(), items_.end(), [&](const Item& other) { return other.level == item.level; });
    if (policy.max_queue_size > 0 && in_level >= policy.max_queue_size) return false;
    Duration timeout = policy.default_timeout;
    const Duration asked = microseconds(asked_us);
    if (policy.allow_timeout_override && asked_us > 0 &&
        (timeout == Duration(0) || asked < timeout)) {
      timeout = asked;
    }
    if (timeout > Duration(0)) item.deadline = item.queued_at + timeout;
    items_.push_back(item);
    Sort();
    return true;
  }

  bool Remove(size_t id) {
    const auto it =
        std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return item.id == id; });
    if (it == items_.end()) return false;
    items_.erase(it);
    return true;
  }

  // Ids of the requests that are rejected at `now`, the earliest deadline first.
  std::vector<size_t> Expire(TimePoint now) {
    std::vector<Item> expired;
    for (const Item& item : items_) {
      if (item.deadline.has_value() && *item.deadline <= now) expired.push_back(item);
    }
    std::sort(expired.begin(), expired.end(), [](const Item& a, const Item& b) {
      return std::tie(*a.deadline, a.id) < std::tie(*b.deadline, b.id);
    });
    std::vector<size_t> rejected;
    for (const Item& item : expired) {
      if (batching_.PolicyOf(item.level).timeout_action == QueuePolicy::TimeoutAction::kReject) {
        rejected.push_back(item.id);
        Remove(item.id);
        continue;
      }
      for (Item& kept : items_) {
        if (kept.id != item.id) continue;
        kept.deadline.reset();
        kept.back = ++moves_;
      }
    }
    Sort();
    return rejected;
  }

  // Ids of the batch that is due at `now`; none: wait.
  std::vector<size_t> Batch(TimePoint now) const {
    const std::vector<int32_t>& preferred = batching_.preferred_batch_sizes;
    const uint64_t largest = static_cast<uint64_t>(preferred.back());
    uint64_t pending = 0;
    size_t accepted = 0, mark = 0;
    bool send_now = false;
    TimePoint oldest = TimePoint::max();
    for (const Item& item : items_) {
      if (accepted > 0) {
        if (pending + item.units > largest && mark == 0) mark = accepted;
        send_now = pending + item.units > max_ || item.length != items_[0].length;
        if (send_now) break;
      }
      pending += item.units;
      ++accepted;
      oldest = std::min(oldest, item.queued_at);
      if (std::count(preferred.begin(), preferred.end(), static_cast<int32_t>(pending)) > 0) {
        mark = accepted;
      }
    }
    const Duration delay = batching_.max_queue_delay;
    const bool exceeded = delay > Duration(0) && accepted > 0 && now - oldest >= delay;
    if (mark > 0 && !exceeded) return Ids(mark);
    if (send_now || pending >= largest || exceeded || delay == Duration(0)) return Ids(accepted);
    return {};
  }

 private:
  void Sort() {
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return std::tie(a.level, a.back, a.id) < std::tie(b.level, b.back, b.id);
    });
  }
  std::vector<size_t> Ids(size_t count) const {
    std::vector<size_t> ids;
    for (size_t i = 0; i < count; ++i) ids.push_back(items_[i].id);
    return ids;
  }

  const BatchingOptions& batching_;
  const uint64_t max_;
  std::vector<Item> items_;
  size_t moves_ = 0;
};

ModelBuilder Model() {
  ModelBuilder builder("m");
  builder.MaxBatch(8).Input("in", DataType::kInt8, {-1});
  return builder;
}

size_t IdOf(const InferRequest& request) { return static_cast<size_t>(std::stoul(request.id())); }

struct Options {
  const char* name;
  ModelBuilder model;
  double service;  // batches taken per request that arrives
};

std::ostream& operator<<(std::ostream& out, const Options& o) { return out << o.name; }

class BatchFormerPropertyTest : public ::testing::TestWithParam<Options> {
 protected:
  void SetUp() override {
    model_ = FakeModel::Make(GetParam().model);
    former_ = std::make_unique<BatchFormer>(&model_->config());
    naive_ = std::make_unique<NaiveQueue>(model_->config());
  }

  void PushOne() {
    const size_t id = requests_.size();
    requests_.push_back(std::make_unique<TestRequest>(model_));
    TestRequest& request = *requests_.back();
    NaiveQueue::Item item;
    item.id = id;
    item.units = 1 + (random_() % 4 == 0 ? random_() % 8 : 0);
    item.length = random_() % 12 == 0 ? 2 : 1;
    item.queued_at = now_;
    const uint64_t priority = random_() % 6;
    const uint64_t timeout_us = random_() % 3 == 0 ? 1 + random_() % 60 : 0;
    request->set_id(std::to_string(id));
    request->set_priority(priority);
    request->set_timeout_us(timeout_us);
    request.Input("in", DataType::kInt8, {static_cast<int64_t>(item.units), item.length});
    RequestPtr owned = request.Issue();
    item.level = owned->priority();
    const bool taken = former_->Push(&owned, now_);
    ASSERT_EQ(taken, naive_->Push(item, timeout_us));
    if (!taken) {
      ++refused_;
      Finish(std::move(owned));
    }
  }

  void CancelOne() {
    // One of the latest requests. It may have left the queue already.
    const size_t among = std::min<size_t>(requests_.size(), 40);
    if (among == 0) return;
    const size_t id = requests_.size() - 1 - random_() % among;
    if (requests_[id] == nullptr) {
      ASSERT_FALSE(naive_->Remove(id));
      return;
    }
    RequestPtr removed = former_->Remove(requests_[id]->get());
    ASSERT_EQ(removed != nullptr, naive_->Remove(id));
    if (removed != nullptr) {
      ++cancelled_;
      Finish(std::move(removed));
    }
  }

  void ExpireAll() {
    std::vector<RequestPtr> rejected;
    former_->Expire(now_, &rejected);
    std::vector<size_t> ids;
    for (RequestPtr& request : rejected) {
      ids.push_back(IdOf(*request));
      Finish(std::move(request));
    }
    ASSERT_EQ(ids, naive_->Expire(now_));
    expired_ += ids.size();
  }

  // Does what an instance does when it looks for work.
  void TakeOne() {
    ExpireAll();
    const BatchDecision decision = former_->Decide(now_);
    const std::vector<size_t> expected = naive_->Batch(now_);
    ASSERT_EQ(decision.take, expected.size()) << "at request " << requests_.size();
    std::vector<size_t> ids;
    for (RequestPtr& request : former_->Take(decision.take)) {
      ids.push_back(IdOf(*request));
      Finish(std::move(request));
    }
    ASSERT_EQ(ids, expected);
    for (const size_t id : ids) naive_->Remove(id);
    executed_ += ids.size();
  }

  // Answers and releases a request that has left the queue. Called once per request.
  void Finish(RequestPtr request) {
    EXPECT_EQ(request->FindSlot<QueueEntry>(), nullptr);
    request->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
    std::unique_ptr<TestRequest>& test_request = requests_[IdOf(*request)];
    request.reset();
    ASSERT_EQ(test_request->releases(), 1);
    ASSERT_EQ(test_request->answer_count(), 1u);
    test_request.reset();
  }

  bool Chance(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }

  std::shared_ptr<FakeModel> model_;
  std::vector<std::unique_ptr<TestRequest>> requests_;  // null: has left the queue
  std::unique_ptr<BatchFormer> former_;
  std::unique_ptr<NaiveQueue> naive_;
  std::mt19937 random_{20};
  TimePoint now_ = kStart;
  size_t executed_ = 0, cancelled_ = 0, expired_ = 0, refused_ = 0;
};

TEST_P(BatchFormerPropertyTest, DoesWhatTheRulesSay) {
  for (int i = 0; i < kRequests && !HasFatalFailure(); ++i) {
    PushOne();
    // An arrival checks whether a batch is complete, but does not take it.
    if (Chance(0.5)) {
      ExpireAll();
      former_->Decide(now_);
    }
    if (Chance(0.1)) CancelOne();
    if (Chance(0.4)) now_ += microseconds(random_() % 10);
    if (Chance(GetParam().service)) TakeOne();
  }
  while (!former_->empty() && !HasFatalFailure()) {
    now_ += microseconds(50);
    TakeOne();
  }
  EXPECT_TRUE(naive_->empty());
  EXPECT_EQ(executed_ + cancelled_ + expired_ + refused_, requests_.size());
  EXPECT_GT(executed_, requests_.size() / 10);
  EXPECT_GT(cancelled_, 0u);
}

QueuePolicy MakePolicy(int64_t timeout_us, bool delay, bool may_override, uint32_t limit) {
  QueuePolicy policy;
  policy.default_timeout = microseconds(timeout_us);
  if (delay) policy.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  policy.allow_timeout_override = may_override;
  policy.max_queue_size = limit;
  return policy;
}

INSTANTIATE_TEST_SUITE_P(
    Policies, BatchFormerPropertyTest,
    ::testing::Values(
        Options{"one_level", Model().Batching({2, 6}, microseconds(40)), 0.5},
        Options{"rejects",
                Model().Batching({}, microseconds(30)).Policy(MakePolicy(50, false, true, 20)),
                0.4},
        Options{"all_of_it",
                Model()
                    .Batching({4}, microseconds(25))
                    .Priorities(4)
                    .Policy(MakePolicy(0, false, true, 15))
                    .Policy(MakePolicy(30, true, false, 0), 1)
                    .Policy(MakePolicy(40, true, true, 12), 2)
                    .Policy(MakePolicy(60, false, true, 0), 4),
                0.4},
        Options{"no_delay", Model().Batching().Priorities(4).Policy(MakePolicy(30, true, true, 0)),
                0.95}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- What the random test above does not cover.

class BatchFormerTest : public ::testing::Test {
 protected:
  void Use(const ModelBuilder& model, bool judged = false) {
    model_ = FakeModel::Make(model);
    former_ = std::make_unique<BatchFormer>(&model_->config(), judged);
  }
  void TearDown() override { former_.reset(); }

  InferRequest* Push(uint64_t priority, TimePoint at, int64_t units = 1) {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    TestRequest& request = *requests_.back();
    request->set_priority(priority);
    request.Input("in", DataType::kInt8, {units, 1});
    RequestPtr owned = request.Issue();
    EXPECT_TRUE(former_->Push(&owned, at));
    return request.get();
  }

  std::shared_ptr<FakeModel> model_;
  std::vector<std::unique_ptr<TestRequest>> requests_;
  std::unique_ptr<BatchFormer> former_;
};

TEST_F(BatchFormerTest, TheDelayCountsFromTheOldestOfTheBatchNotFromItsFirst) {
  Use(Model().Batching({}, microseconds(100)).Priorities(2));
  Push(2, kStart);
  EXPECT_EQ(former_->Decide(kStart).wake_at, kStart + microseconds(100));
  Push(1, kStart + microseconds(60));
  const BatchDecision decision = former_->Decide(kStart + microseconds(60));
  EXPECT_EQ(decision.take, 0u);
  EXPECT_EQ(decision.wake_at, kStart + microseconds(100));
}

TEST_F(BatchFormerTest, AMoreUrgentRequestReplacesAnotherInABatchThatWasComplete) {
  Use(Model().Batching({2}, microseconds(100)).Priorities(2));
  InferRequest* const first = Push(2, kStart);
  Push(2, kStart);
  EXPECT_EQ(former_->Decide(kStart).take, 2u);
  InferRequest* const urgent = Push(1, kStart);
  ASSERT_EQ(former_->Decide(kStart).take, 2u);
  const Batch batch = former_->Take(2);
  EXPECT_EQ(batch[0].get(), urgent);
  EXPECT_EQ(batch[1].get(), first);
}

TEST_F(BatchFormerTest, JudgingStartsAgainWhenAnotherComesInFront) {
  Use(Model().Batching().Priorities(2), /*judged=*/true);
  InferRequest* const first = Push(2, kStart);
  InferRequest* const second = Push(2, kStart);
  ASSERT_EQ(former_->NextToJudge(), first);
  former_->Judge(true);
  ASSERT_EQ(former_->NextToJudge(), second);
  const uint64_t forming = former_->forming();
  InferRequest* const urgent = Push(1, kStart);
  EXPECT_NE(former_->forming(), forming);
  ASSERT_EQ(former_->NextToJudge(), urgent);
  former_->Judge(false);  // joins all the same
  former_->Judge(false);
  EXPECT_EQ(former_->NextToJudge(), nullptr) << "the batch is closed";
  EXPECT_EQ(former_->Decide(kStart).take, 1u);
  EXPECT_EQ(former_->Take(1).at(0).get(), urgent);
  EXPECT_EQ(former_->NextToJudge(), first);
}

TEST_F(BatchFormerTest, WhatIsMarkedCancelledStaysUntilItIsTaken) {
  Use(Model().Batching());
  InferRequest* const first = Push(0, kStart);
  InferRequest* const second = Push(0, kStart);
  std::vector<RequestPtr> cancelled;
  EXPECT_FALSE(former_->TakeCancelled(&cancelled));
  former_->MarkCancelled(first);
  former_->MarkCancelled(first);
  EXPECT_EQ(former_->size(), 2u);
  EXPECT_TRUE(former_->TakeCancelled(&cancelled));
  ASSERT_EQ(cancelled.size(), 1u) << "marked twice, taken once";
  EXPECT_EQ(cancelled[0].get(), first);
  EXPECT_FALSE(former_->Holds(*first));
  EXPECT_FALSE(former_->TakeCancelled(&cancelled));

  EXPECT_TRUE(former_->Holds(*second));
  former_->MarkCancelled(second);
  former_->ForgetCancelled();
  EXPECT_FALSE(former_->TakeCancelled(&cancelled));
  EXPECT_EQ(former_->PopFront().get(), second);
}

TEST_F(BatchFormerTest, WhatDoesNotFitIsNotJudged) {
  Use(Model().Batching(), /*judged=*/true);
  Push(0, kStart, 5);
  Push(0, kStart, 5);
  former_->Judge(true);
  EXPECT_EQ(former_->NextToJudge(), nullptr);
  EXPECT_EQ(former_->Decide(kStart).take, 1u);
}

}  // namespace
}  // namespace nereid
