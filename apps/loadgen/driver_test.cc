// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/driver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "apps/loadgen/arrivals.h"
#include "apps/loadgen/testing/fake_transport.h"

namespace nereid::bench {
namespace {

using std::chrono::milliseconds;

TEST(ClosedLoopTest, CountsWhatCompletes) {
  FakeTransport transport(4);
  const auto measured = RunClosed(&transport, milliseconds(5));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->latency.count() + 4, static_cast<uint64_t>(transport.sent));
  EXPECT_EQ(measured->errors, 0u);
  EXPECT_DOUBLE_EQ(measured->seconds, 0.005);
  EXPECT_GT(measured->seconds_to_last, 0);
}

TEST(ClosedLoopTest, WithoutAnAnswerThereIsNoLastOne) {
  FakeTransport transport(1);
  const auto measured = RunClosed(&transport, milliseconds(0));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->latency.count(), 0u);
  EXPECT_EQ(measured->seconds_to_last, 0);
}

TEST(ClosedLoopTest, CountsErrors) {
  FakeTransport transport(1);
  transport.ok = false;
  const auto measured = RunClosed(&transport, milliseconds(2));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->latency.count(), 0u);
  EXPECT_GT(measured->errors, 0u);
}

TEST(OpenLoopTest, SendsWhatFallsDueAndNoMore) {
  FakeTransport transport(2);
  const auto measured = RunOpen(&transport, ArrivalTimes(Arrivals::kUniform, 10'000, 0.02, 1),
                                std::chrono::seconds(1));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(transport.sent, 200);
  EXPECT_EQ(measured->latency.count(), 200u);
  EXPECT_EQ(measured->in_time, 200u);
}

// A pause of 20 ms at 1,000 requests per second makes 20 requests late. A load generator that
// measures from the time of sending would report only one.
TEST(OpenLoopTest, AStallIsChargedToAllThatFellDueMeanwhile) {
  FakeTransport transport(1);
  transport.pause_at = 10;
  transport.pause = milliseconds(20);
  const auto measured =
      RunOpen(&transport, ArrivalTimes(Arrivals::kUniform, 1'000, 0.04, 1), milliseconds(10));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->latency.count(), 40u);
  EXPECT_GE(measured->latency.max(), 20'000'000);
  EXPECT_GE(measured->latency.Percentile(0.75), 5'000'000);
  EXPECT_LE(measured->in_time, 31u);
}

// Ends the run at its second question.
class Impatient final : public LoadObserver {
 public:
  explicit Impatient(RunState then) : then_(then) {}
  void OnAnswer(const Answer&) override { ++answers; }
  RunState OnTime(BenchTime) override { return asked_++ == 0 ? RunState::kGoOn : then_; }
  int answers = 0;

 private:
  const RunState then_;
  int asked_ = 0;
};

TEST(ClosedLoopTest, AnObserverEndsIt) {
  FakeTransport transport(2);
  Impatient observer(RunState::kFinish);
  EXPECT_EQ(DriveClosed(&transport, std::chrono::hours(1), &observer).value(), 0u);
  EXPECT_EQ(observer.answers, 2);
  EXPECT_EQ(transport.sent, 4);
}

TEST(OpenLoopTest, AnObserverEndsIt) {
  FakeTransport transport(2);
  Impatient observer(RunState::kFinish);
  // All of one moment fall due at once; the rest will never be sent.
  std::vector<std::chrono::nanoseconds> due(2);
  due.push_back(std::chrono::hours(1));
  EXPECT_EQ(DriveOpen(&transport, ArrivalTimes(due), &observer).value(), 0u);
  EXPECT_EQ(observer.answers, 2);
}

TEST(OpenLoopTest, AnObserverLeavesAtOnce) {
  FakeTransport transport(1);
  Impatient observer(RunState::kLeave);
  EXPECT_TRUE(DriveOpen(&transport, ArrivalTimes(Arrivals::kUniform, 1, 3600, 1), &observer).ok());
  EXPECT_EQ(transport.sent, 1);
}

TEST(SequenceTest, ARunEndsWhatItHasBegun) {
  FakeTransport transport(3);
  transport.open_sequences = {0, 2};
  Impatient observer(RunState::kFinish);
  EXPECT_TRUE(DriveClosed(&transport, std::chrono::hours(1), &observer).ok());
  EXPECT_TRUE(transport.open_sequences.empty());
}

}  // namespace
}  // namespace nereid::bench
