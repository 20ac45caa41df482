// SPDX-License-Identifier: Apache-2.0
// Requests to ensembles whose clients read their answers slowly.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "infer/response_credit.h"
#include "scheduling/testing/ensemble_fixture.h"

namespace nereid {
namespace {

// A request with several answers whose client may read slowly.
class EnsembleCreditTest : public EnsembleFixture {
 protected:
  static constexpr uint64_t kMostBytes = 64;

  TestRequest& StartWithCredit(const std::map<std::string, Ints>& inputs) {
    TestRequest& request = NewRequest();
    for (const auto& [name, ints] : inputs) AddInts(&request, name, ints);
    request.set_credit(credit_);
    const absl::Status started = TryStart(&request);
    EXPECT_TRUE(started.ok()) << started;
    return request;
  }
  // Executes a request of "each" that waits, and answers it with `ints` values.
  void FinishEach(size_t ints = 1) {
    RequestPtr each = step("each").Take();
    FakeStep::Finish(std::move(each), {{"O", Ints(ints, 7)}});
  }

  const std::shared_ptr<ResponseCredit> credit_ =
      std::make_shared<ResponseCredit>(std::make_shared<ResponseCredit::Account>(0), kMostBytes);
};

TEST_F(EnsembleCreditTest, NoStepStartsForARequestWithoutCredit) {
  Stream();
  TestRequest& request = StartWithCredit({{"i", {0}}});
  RequestPtr many = step("many").Take();
  FakeStep::Send(many.get(), {{"O", {0}}}, 0);
  EXPECT_TRUE(many->stream()->HasCredit());
  credit_->Withdraw();
  FakeStep::Send(many.get(), {{"O", {1}}}, 0);
  FakeStep::Send(many.get(), {{"O", {2}}}, 0);
  EXPECT_EQ(step("each").held(), 1u);
  EXPECT_FALSE(many->stream()->HasCredit()) << "the decoupled step learns it";
  FinishEach();
  EXPECT_EQ(request.answer_count(), 1u) << "what is ready is sent";
  EXPECT_EQ(step("each").held(), 0u);
  int woken = 0;
  many->stream()->OnCredit([&] { ++woken; });
  credit_->Give().Call();
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(many->stream()->HasCredit());
  EXPECT_EQ(step("each").held(), 2u);
  FinishEach();
  FinishEach();
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
  EXPECT_EQ(request.answer_count(), 4u);
  EXPECT_TRUE(request.final_status().ok());
}

TEST_F(EnsembleCreditTest, OnlyAsManyAreAheadAsTheClientMayHaveWaiting) {
  Stream();
  TestRequest& request = StartWithCredit({{"i", {0}}});
  RequestPtr many = step("many").Take();
  for (int32_t i = 0; i < 40; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  EXPECT_EQ(step("each").held(), 16u) << "nobody knows how large an answer is";
  FinishEach(4);  // 16 bytes: four fill what may wait
  EXPECT_EQ(step("each").held(), 15u);
  for (int i = 0; i < 12; ++i) FinishEach(4);
  EXPECT_EQ(step("each").held(), 4u);
  credit_->Withdraw();
  while (step("each").held() > 0) FinishEach(4);
  EXPECT_EQ(request.answer_count(), 17u);
  EXPECT_EQ(step("each").seen(), 17);
  credit_->Give().Call();
  EXPECT_EQ(step("each").held(), 4u);
  for (int i = 17; i < 40; ++i) FinishEach(4);
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
  EXPECT_EQ(request.answer_count(), 41u);
}

TEST_F(EnsembleCreditTest, ADecoupledStepLosesItsCreditWhileTooManyWait) {
  Stream();
  TestRequest& request = StartWithCredit({{"i", {0}}});
  RequestPtr many = step("many").Take();
  // The tensors that wait fill what the client may have waiting: 17 of 4 bytes.
  for (int32_t i = 0; i < 16; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  EXPECT_TRUE(many->stream()->HasCredit());
  EXPECT_EQ(credit_->held(), 64u) << "what the run keeps is charged to its client";
  FakeStep::Send(many.get(), {{"O", {16}}}, 0);
  EXPECT_FALSE(many->stream()->HasCredit());
  for (int i = 0; i < 17; ++i) FinishEach();
  EXPECT_TRUE(many->stream()->HasCredit());
  EXPECT_EQ(credit_->held(), 0u);
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
}

TEST_F(EnsembleCreditTest, AnEnsembleOfOneDecoupledStepPassesTheCreditOn) {
  Input("i");
  Output("o");
  Step("many", "i", "o", /*decoupled=*/true);
  Build();
  TestRequest& request = StartWithCredit({{"i", {0}}});
  RequestPtr many = step("many").Take();
  FakeStep::Send(many.get(), {{"O", {1}}}, 0);
  EXPECT_TRUE(many->stream()->HasCredit());
  credit_->Withdraw();
  FakeStep::Send(many.get(), {{"O", {2}}}, 0);
  EXPECT_FALSE(many->stream()->HasCredit());
  EXPECT_EQ(request.answer_count(), 2u);
  credit_->Give().Call();
  EXPECT_TRUE(many->stream()->HasCredit());
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
}

TEST_F(EnsembleCreditTest, ACancelledRequestForgetsWhatWaits) {
  Stream();
  TestRequest& request = StartWithCredit({{"i", {0}}});
  RequestPtr many = step("many").Take();
  credit_->Withdraw();
  for (int32_t i = 0; i < 3; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  EXPECT_EQ(step("each").held(), 0u);
  ASSERT_TRUE(request->Cancel().ok());
  EXPECT_TRUE(many->stream()->HasCredit()) << "it need not wait to see the cancellation";
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
  EXPECT_EQ(step("each").seen(), 0);
  EXPECT_EQ(request.final_status().code(), absl::StatusCode::kCancelled);
}

TEST_F(EnsembleCreditTest, AMemberThatUnloadsDoesNotWaitForTheClient) {
  Stream();
  TestRequest& request = StartWithCredit({{"i", {0}}});
  RequestPtr many = step("many").Take();
  credit_->Withdraw();
  FakeStep::Send(many.get(), {{"O", {1}}}, 0);
  EXPECT_EQ(step("each").held(), 0u);
  step("each").model()->BeginUnload();
  EXPECT_EQ(step("each").held(), 1u);
  FinishEach();
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
}

TEST_F(EnsembleCreditTest, ARequestWithOneAnswerNeedsNone) {
  Chain();
  step("first").ComputeAtOnce(&Increment);
  credit_->Withdraw();
  TestRequest& request = StartWithCredit({{"i", {1}}});
  RequestPtr second = step("second").Take();
  FakeStep::Finish(std::move(second), {{"O", {7}}});
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
}

// A client that pauses and reads on all the time, a decoupled step that waits for credit, and two
// threads that execute the other step: every answer comes, and none twice. The other step gets its
// requests in the order of the answers, since these may be a sequence.
TEST_F(EnsembleCreditTest, NothingIsLostWhenCreditComesAndGoes) {
  constexpr int32_t kAnswers = 2000;
  Stream();
  TestRequest& request = StartWithCredit({{"i", {0}}});
  std::atomic<int32_t> left{kAnswers};
  std::thread client([&] {
    while (left.load() > 0) {
      credit_->Withdraw();
      credit_->Give().Call();
    }
  });
  std::vector<std::thread> instances;
  Mutex mu;  // of the choice of a request
  std::vector<int32_t> taken;
  for (int n = 0; n < 2; ++n) {
    instances.emplace_back([&] {
      while (left.load() > 0) {
        RequestPtr each;
        FakeStep::Outputs outputs;
        {
          MutexLock lock(&mu);
          if (step("each").held() == 0) continue;
          each = step("each").Take();
          outputs = Sum(each.get());
          taken.push_back(outputs["O"][0]);
        }
        FakeStep::Finish(std::move(each), outputs);
        --left;
      }
    });
  }
  RequestPtr many = step("many").Take();
  for (int32_t i = 0; i < kAnswers; ++i) {
    const auto credited = std::make_shared<std::promise<void>>();
    many->stream()->OnCredit([credited] { credited->set_value(); });
    credited->get_future().wait();
    FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  }
  FakeStep::FinishEmpty(std::move(many));
  for (std::thread& instance : instances) instance.join();
  client.join();
  credit_->Give().Call();
  request.WaitDone();
  // The final flag comes with the last answer or alone.
  ASSERT_GE(request.answer_count(), static_cast<size_t>(kAnswers));
  std::set<int32_t> seen;
  for (int32_t i = 0; i < kAnswers; ++i) {
    seen.insert(OutputOf(*request.answer(static_cast<size_t>(i)).response, "o")[0]);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kAnswers));
  EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
}

}  // namespace
}  // namespace nereid
