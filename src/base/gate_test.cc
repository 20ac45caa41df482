#include "base/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nereid {
namespace {

TEST(GateTest, CountsWhatIsInside) {
  Gate gate;
  EXPECT_TRUE(gate.Enter());
  EXPECT_TRUE(gate.Enter());
  EXPECT_EQ(gate.inside(), 2);
  gate.Leave();
  EXPECT_EQ(gate.inside(), 1);
  gate.Leave();
}

TEST(GateTest, AnEmptyGateIsEmptyWhenItCloses) {
  Gate gate;
  int calls = 0;
  gate.Close([&] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(gate.Enter());
  EXPECT_EQ(gate.inside(), 0);
}

TEST(GateTest, TheLastOneOutSaysSo) {
  Gate gate;
  ASSERT_TRUE(gate.Enter());
  ASSERT_TRUE(gate.Enter());
  int calls = 0;
  gate.Close([&] { ++calls; });
  EXPECT_FALSE(gate.Enter());
  gate.Leave();
  EXPECT_EQ(calls, 0);
  gate.Leave();
  EXPECT_EQ(calls, 1);
}

TEST(GateTest, LeavingAnOpenGateSaysNothing) {
  Gate gate;
  ASSERT_TRUE(gate.Enter());
  gate.Leave();
  int calls = 0;
  gate.Close([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(GateTest, ASecondCloseDoesNothing) {
  Gate gate;
  int first = 0, second = 0;
  ASSERT_TRUE(gate.Enter());
  gate.Close([&] { ++first; });
  gate.Close([&] { ++second; });
  gate.Leave();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
}

TEST(GateTest, TheCallMayUseTheGate) {
  Gate gate;
  ASSERT_TRUE(gate.Enter());
  int64_t seen = -1;
  gate.Close([&] { seen = gate.inside(); });
  gate.Leave();
  EXPECT_EQ(seen, 0);
}

TEST(GateTest, WhoeverIsInsideKeepsAClosedGateOpenForThoseWhoJoin) {
  Gate gate;
  int calls = 0;
  ASSERT_TRUE(gate.Join());  // open as it is, everybody may
  gate.Close([&] { ++calls; });
  EXPECT_FALSE(gate.Enter());
  EXPECT_TRUE(gate.Join());
  gate.Share();
  EXPECT_EQ(gate.inside(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(calls, 0);
    gate.Leave();
  }
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(gate.Join());
}

TEST(GateTest, ALimitLetsSmallHoldersInLast) {
  using Entry = Gate::Entry;
  Gate gate;
  for (uint64_t i = 0; i < 75; ++i) EXPECT_EQ(gate.EnterFairly(100, i), Entry::kInside);
  EXPECT_EQ(gate.EnterFairly(100, 75), Entry::kFull) << "the biggest holder first";
  for (int i = 75; i < 100; ++i) EXPECT_EQ(gate.EnterFairly(100, 0), Entry::kInside) << i;
  EXPECT_EQ(gate.EnterFairly(100, 0), Entry::kFull);
  EXPECT_EQ(gate.EnterFairly(0, 1000), Entry::kInside) << "no limit";
  gate.Leave();
  gate.Leave();
  EXPECT_EQ(gate.EnterFairly(100, 0), Entry::kInside);
  gate.Close([] {});
  EXPECT_EQ(gate.EnterFairly(0, 0), Entry::kClosed);
  EXPECT_EQ(gate.EnterFairly(0, 0, /*join=*/true), Entry::kInside);
}

TEST(GateTest, WithManyThreadsTheCallComesOnceAndLast) {
  Gate gate;
  std::atomic<int> inside{0}, calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (gate.Enter()) {
        ++inside;
        EXPECT_EQ(calls.load(), 0);
        --inside;
        gate.Leave();
        std::this_thread::yield();
      }
    });
  }
  gate.Close([&] {
    EXPECT_EQ(inside.load(), 0);
    ++calls;
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls.load(), 1);
}

}  // namespace
}  // namespace nereid
