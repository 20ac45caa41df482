// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/ensemble_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "scheduling/testing/ensemble_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

class StepGateTest : public EnsembleFixture {
 protected:
  // Starts a request whose input is `value`.
  TestRequest& Ask(int32_t value) { return Start({{"i", {value}}}); }
  // Lets the step answer its earliest execution; the input, by which requests are told apart.
  int32_t FinishOne(const std::string& name) {
    RequestPtr child = step(name).Take();
    const Ints ints = InputOf(child.get(), "I");
    FakeStep::Finish(std::move(child), {{"O", ints}});
    return ints[0];
  }
};

TEST_F(StepGateTest, TheLimitHoldsForAllRequestsTogether) {
  spec_.max_inflight_requests = 2;
  Chain();
  std::vector<TestRequest*> requests;
  for (int32_t i = 0; i < 6; ++i) requests.push_back(&Ask(i));
  EXPECT_EQ(step("first").held(), 2u);
  FinishOne("first");
  FinishOne("first");
  EXPECT_EQ(step("first").held(), 2u);
  EXPECT_EQ(step("second").held(), 2u);
  std::vector<int32_t> order;
  while (order.size() < 6) {
    while (step("first").held() > 0) FinishOne("first");
    EXPECT_LE(step("second").held(), 2u);
    order.push_back(FinishOne("second"));
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5)) << "they wait in their order";
  for (TestRequest* const request : requests) {
    request->WaitDone();
    EXPECT_TRUE(request->final_status().ok());
  }
}

TEST_F(StepGateTest, AFastStepDoesNotPileUpOutputsBeforeASlowOne) {
  spec_.max_inflight_requests = 2;
  Chain();
  std::vector<TestRequest*> requests;
  for (int32_t i = 0; i < 20; ++i) requests.push_back(&Ask(i));
  int fast = 0;
  for (; step("first").held() > 0; ++fast) FinishOne("first");
  EXPECT_LE(fast, 2 + 2 + 1);  // executed by "second", waiting for it, and one that had started
  for (int left = 20; left > 0; --left) {
    FinishOne("second");
    while (step("first").held() > 0) FinishOne("first");
  }
  for (TestRequest* const request : requests) request->WaitDone();
}

TEST_F(StepGateTest, ACancelledRequestWaitsNoMore) {
  spec_.max_inflight_requests = 1;
  Chain();
  TestRequest& one = Ask(1);
  TestRequest& two = Ask(2);
  TestRequest& three = Ask(3);
  ASSERT_TRUE(two->Cancel().ok());
  two.WaitDone();
  EXPECT_EQ(two.final_status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(FinishOne("first"), 1);
  EXPECT_EQ(FinishOne("first"), 3);
  EXPECT_EQ(FinishOne("second"), 1);
  EXPECT_EQ(FinishOne("second"), 3);
  one.WaitDone();
  three.WaitDone();
  EXPECT_EQ(step("first").seen(), 2);
}

TEST_F(StepGateTest, WhoeverWaitedGoesOnWhenWhatHeldItBackIsCancelled) {
  spec_.max_inflight_requests = 1;
  Chain();
  TestRequest& one = Ask(1);
  FinishOne("first");
  TestRequest& two = Ask(2);
  FinishOne("first");  // "second" is busy: the next request does not even begin
  TestRequest& three = Ask(3);
  EXPECT_EQ(step("first").held(), 0u);
  ASSERT_TRUE(two->Cancel().ok());
  two.WaitDone();
  EXPECT_EQ(FinishOne("first"), 3);
  EXPECT_EQ(FinishOne("second"), 1);
  EXPECT_EQ(FinishOne("second"), 3);
  one.WaitDone();
  three.WaitDone();
}

TEST_F(StepGateTest, AFailedExecutionMakesRoom) {
  spec_.max_inflight_requests = 1;
  Chain();
  TestRequest& one = Ask(1);
  TestRequest& two = Ask(2);
  FakeStep::FinishWithError(step("first").Take(), absl::UnavailableError("no"));
  one.WaitDone();
  EXPECT_FALSE(one.final_status().ok());
  EXPECT_EQ(FinishOne("first"), 2);
  EXPECT_EQ(FinishOne("second"), 2);
  two.WaitDone();
  EXPECT_TRUE(two.final_status().ok());
}

TEST_F(StepGateTest, StreamsShareTheLimit) {
  spec_.max_inflight_requests = 1;
  Stream();
  TestRequest& one = Start({{"i", {10}}});
  RequestPtr many = step("many").Take();
  TestRequest& two = Start({{"i", {20}}});
  for (int32_t i = 0; i < 3; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  many = step("many").Take();
  FakeStep::Send(many.get(), {{"O", {5}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  std::vector<int32_t> sums;
  while (step("each").held() > 0) {
    EXPECT_EQ(step("each").held(), 1u);
    RequestPtr each = step("each").Take();
    const FakeStep::Outputs outputs = Sum(each.get());
    sums.push_back(outputs.at("O")[0]);
    FakeStep::Finish(std::move(each), outputs);
  }
  // The second stream's piece comes as soon as the pieces before it have had their turns.
  EXPECT_THAT(sums, ElementsAre(10, 11, 25, 12));
  one.WaitDone();
  two.WaitDone();
  EXPECT_EQ(one.answer_count(), 3u);
  EXPECT_EQ(two.answer_count(), 1u);
}

}  // namespace
}  // namespace nereid
