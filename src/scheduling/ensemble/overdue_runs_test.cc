#include "scheduling/ensemble/overdue_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/clock.h"
#include "base/timer.h"
#include "scheduling/testing/ensemble_fixture.h"

namespace nereid {
namespace {

// An ensemble with a fake clock, and a timer on that clock.
class OverdueTest : public EnsembleFixture {
 protected:
  OverdueTest() {
    clock_ = &fake_clock_;
    timer_ = &fake_timer_;
    spec_.max_inflight_requests = 1;
    Stream();
  }
  void TearDown() override {
    EnsembleFixture::TearDown();
    scheduler_.reset();
  }

  FakeClock fake_clock_;
  Timer fake_timer_{&fake_clock_};
};

TEST_F(OverdueTest, WhatIsParkedForTooLongStartsBesideTheOthers) {
  ::testing::internal::CaptureStderr();
  TestRequest& request = Start({{"i", {0}}});
  RequestPtr many = step("many").Take();
  for (int32_t i = 0; i < 3; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  fake_clock_.Advance(std::chrono::seconds(200));
  FakeStep::Send(many.get(), {{"O", {3}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  EXPECT_EQ(step("each").held(), 1u);
  fake_clock_.Advance(std::chrono::seconds(100));
  while (step("each").held() < 3) std::this_thread::yield();
  // The last execution has not waited long enough: it starts only when all others have ended.
  for (int32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(step("each").held(), i < 3 ? 3u - static_cast<size_t>(i) : 1u);
    RequestPtr each = step("each").Take();
    const FakeStep::Outputs outputs = Sum(each.get());
    FakeStep::Finish(std::move(each), outputs);
  }
  request.WaitDone();
  EXPECT_EQ(request.answer_count(), 4u);
  EXPECT_TRUE(request.final_status().ok());
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      ::testing::HasSubstr("[request id: <id_unknown>] ensemble 'e': steps that have waited "
                           "300 s for others of their request"));
}

TEST_F(OverdueTest, EachExecutionHasItsTime) {
  TestRequest& request = Start({{"i", {0}}});
  RequestPtr many = step("many").Take();
  for (int32_t i = 0; i < 2; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  fake_clock_.Advance(std::chrono::seconds(200));
  FakeStep::Send(many.get(), {{"O", {2}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  fake_clock_.Advance(std::chrono::seconds(100));
  while (step("each").held() < 2) std::this_thread::yield();
  fake_clock_.Advance(std::chrono::seconds(200));
  while (step("each").held() < 3) std::this_thread::yield();
  while (step("each").held() > 0) FakeStep::Finish(step("each").Take(), {{"O", {1}}});
  request.WaitDone();
  EXPECT_EQ(request.answer_count(), 3u);
}

TEST_F(OverdueTest, ARequestThatHasEndedIsNotLookedAfter) {
  TestRequest& request = Start({{"i", {0}}});
  RequestPtr many = step("many").Take();
  for (int32_t i = 0; i < 3; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  ASSERT_TRUE(request->Cancel().ok());
  FakeStep::FinishEmpty(std::move(many));
  FakeStep::Finish(step("each").Take(), {{"O", {0}}});
  request.WaitDone();
  TestRequest& other = Start({{"i", {0}}});
  many = step("many").Take();
  for (int32_t i = 0; i < 2; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  fake_clock_.Advance(std::chrono::seconds(300));
  while (step("each").held() < 2) std::this_thread::yield();
  EXPECT_EQ(step("each").seen(), 3);
  while (step("each").held() > 0) FakeStep::Finish(step("each").Take(), {{"O", {1}}});
  other.WaitDone();
}

}  // namespace
}  // namespace nereid
