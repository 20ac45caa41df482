// SPDX-License-Identifier: Apache-2.0
#include "base/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace nereid {
namespace {

TEST(GateTest, CountsWhatIsInside) {
  Gate gate;
  Gate::Pass first = gate.Enter();
  EXPECT_TRUE(first);
  {
    const Gate::Pass second = gate.Enter();
    EXPECT_TRUE(second);
    EXPECT_EQ(gate.inside(), 2);
  }
  EXPECT_EQ(gate.inside(), 1);
  first = Gate::Pass();
  EXPECT_EQ(gate.inside(), 0);
  EXPECT_FALSE(first);
}

TEST(GateTest, APassMoves) {
  Gate gate;
  Gate other;
  Gate::Pass pass = gate.Enter();
  Gate::Pass moved = std::move(pass);
  EXPECT_EQ(gate.inside(), 1);
  moved = other.Enter();
  EXPECT_EQ(gate.inside(), 0) << "what is assigned to leaves";
  EXPECT_EQ(other.inside(), 1);
  Gate::Pass& self = moved;
  moved = std::move(self);
  EXPECT_EQ(other.inside(), 1);
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
  Gate::Pass first = gate.Enter(), second = gate.Enter();
  int calls = 0;
  gate.Close([&] { ++calls; });
  EXPECT_FALSE(gate.Enter());
  first = Gate::Pass();
  EXPECT_EQ(calls, 0);
  second = Gate::Pass();
  EXPECT_EQ(calls, 1);
}

TEST(GateTest, LeavingAnOpenGateSaysNothing) {
  Gate gate;
  EXPECT_TRUE(gate.Enter());
  int calls = 0;
  gate.Close([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(GateTest, ASecondCloseDoesNothing) {
  Gate gate;
  int first = 0, second = 0;
  Gate::Pass pass = gate.Enter();
  gate.Close([&] { ++first; });
  gate.Close([&] { ++second; });
  pass = Gate::Pass();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
}

TEST(GateTest, TheCallMayUseTheGateAndEndIt) {
  auto gate = std::make_unique<Gate>();
  Gate::Pass pass = gate->Enter();
  int64_t seen = -1;
  gate->Close([&] {
    seen = gate->inside();
    gate.reset();
  });
  pass = Gate::Pass();
  EXPECT_EQ(seen, 0);
}

TEST(GateTest, WhoeverIsInsideKeepsAClosedGateOpenForThoseWhoJoin) {
  Gate gate;
  int calls = 0;
  std::vector<Gate::Pass> passes;
  passes.push_back(gate.Join());  // the gate is open, so everybody may join
  gate.Close([&] { ++calls; });
  EXPECT_FALSE(gate.Enter());
  passes.push_back(gate.Join());
  passes.push_back(passes.back().Another());
  for (const Gate::Pass& pass : passes) EXPECT_TRUE(pass);
  EXPECT_EQ(gate.inside(), 3);
  while (!passes.empty()) {
    EXPECT_EQ(calls, 0);
    passes.pop_back();
  }
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(gate.Join());
}

TEST(GateTest, ALimitLetsSmallHoldersInLast) {
  using Entry = Gate::Entry;
  Gate gate;
  std::vector<Gate::Pass> passes;
  const auto enter = [&](uint64_t limit, uint64_t held, bool join = false) {
    Gate::Pass pass;
    const Entry entry = gate.EnterFairly(limit, held, join, &pass);
    EXPECT_EQ(static_cast<bool>(pass), entry == Entry::kInside);
    if (pass) passes.push_back(std::move(pass));
    return entry;
  };
  for (uint64_t i = 0; i < 75; ++i) EXPECT_EQ(enter(100, i), Entry::kInside);
  EXPECT_EQ(enter(100, 75), Entry::kFull) << "the biggest holder first";
  for (int i = 75; i < 100; ++i) EXPECT_EQ(enter(100, 0), Entry::kInside) << i;
  EXPECT_EQ(enter(100, 0), Entry::kFull);
  EXPECT_EQ(enter(0, 1000), Entry::kInside) << "no limit";
  passes.resize(99);
  EXPECT_EQ(enter(100, 0), Entry::kInside);
  gate.Close([] {});
  EXPECT_EQ(enter(0, 0), Entry::kClosed);
  EXPECT_EQ(enter(0, 0, /*join=*/true), Entry::kInside);
}

TEST(GateTest, WithManyThreadsTheCallComesOnceAndLast) {
  Gate gate;
  std::atomic<int> inside{0}, calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (const Gate::Pass pass = gate.Enter()) {
        ++inside;
        EXPECT_EQ(calls.load(), 0);
        --inside;
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
