// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/plan/plan_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lifecycle/testing/small_stack.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

constexpr size_t kMany = 20'000;

PlannedAction After(std::vector<size_t> others) {
  PlannedAction action;
  action.after = std::move(others);
  return action;
}

std::vector<PlannedAction> Chain(size_t length) {
  std::vector<PlannedAction> actions(length);
  for (size_t i = 1; i < length; ++i) actions[i].after = {i - 1};
  return actions;
}

TEST(PlanRunTest, AnActionStartsWhenThoseBeforeItHaveEnded) {
  std::vector<size_t> started;
  std::vector<PlanRun::Completion> completions(4);
  int ended = 0;
  const auto run = PlanRun::Begin(
      {After({}), After({}), After({0, 1}), After({2})},
      [&](size_t index, PlanRun::Completion completion) {
        started.push_back(index);
        completions[index] = std::move(completion);
      },
      [&](const PlanRun&) { ++ended; });
  EXPECT_THAT(started, ElementsAre(0, 1));
  completions[1].Report(absl::OkStatus());
  EXPECT_THAT(started, ElementsAre(0, 1));
  completions[0].Report(absl::NotFoundError("why"));
  EXPECT_THAT(started, ElementsAre(0, 1, 2));
  completions[2].Report(absl::OkStatus());
  EXPECT_EQ(ended, 0);
  completions[3].Report(absl::OkStatus());
  EXPECT_EQ(ended, 1);
  run->Wait();
  EXPECT_EQ(run->result(0).message(), "why");
  EXPECT_TRUE(run->result(3).ok());
}

TEST(PlanRunTest, WhatBecomesReadyWhileAnActionStartsIsNotForgotten) {
  std::vector<size_t> started;
  // The second action is started by the thread that ended the first one while it was starting it.
  const auto run = PlanRun::Begin(Chain(5), [&](size_t index, PlanRun::Completion completion) {
    started.push_back(index);
    if (index == 1) throw std::runtime_error("no memory");
    if (index == 2) {
      std::thread([moved = std::make_shared<PlanRun::Completion>(std::move(completion))] {
        moved->Report(absl::OkStatus());
      }).join();
      return;
    }
    completion.Report(absl::OkStatus());
  });
  run->Wait();
  EXPECT_THAT(started, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(run->result(1).code(), absl::StatusCode::kUnavailable);
}

TEST(PlanRunTest, APlanWithoutActionsHasEnded) {
  int ended = 0;
  PlanRun::Begin({}, nullptr, [&](const PlanRun&) { ++ended; })->Wait();
  EXPECT_EQ(ended, 1);
}

TEST(PlanRunTest, TheStackDoesNotGrowWithThePlan) {
  for (const bool chain : {false, true}) {
    size_t started = 0;
    bool ended = false;
    OnSmallStack([&] {
      PlanRun::Begin(
          chain ? Chain(kMany) : std::vector<PlannedAction>(kMany),
          [&](size_t, PlanRun::Completion completion) {
            ++started;
            completion.Report(absl::OkStatus());
          },
          [&](const PlanRun&) { ended = true; })
          ->Wait();
    });
    EXPECT_EQ(started, kMany);
    EXPECT_TRUE(ended);
  }
}

TEST(PlanRunTest, AnEndAfterwardsGoesOnWithoutAStack) {
  PlanRun::Completion first;
  size_t started = 0;
  const auto run = PlanRun::Begin(Chain(kMany), [&](size_t index, PlanRun::Completion completion) {
    ++started;
    if (index == 0) {
      first = std::move(completion);
    } else {
      completion.Report(absl::OkStatus());
    }
  });
  OnSmallStack([&] { first.Report(absl::OkStatus()); });
  run->Wait();
  EXPECT_EQ(started, kMany);
}

TEST(DependencyGraphTest, TheStackDoesNotGrowWithTheDepthOfEnsembles) {
  std::map<ModelId, std::vector<std::string>> used;
  std::set<ModelId> all;
  for (size_t i = 0; i < kMany; ++i) {
    const ModelId id{"", std::to_string(i)};
    all.insert(id);
    used[id];
    if (i + 1 < kMany) used[id] = {std::to_string(i + 1)};
  }
  OnSmallStack([&] {
    const DependencyGraph graph(used);
    EXPECT_TRUE(graph.Check({"", "0"}).ok());
    const std::vector<ModelId> order = graph.InOrder(all);
    ASSERT_EQ(order.size(), kMany);
    EXPECT_EQ(order.front().name, std::to_string(kMany - 1));
    EXPECT_EQ(order.back().name, "0");
  });
}

}  // namespace
}  // namespace nereid
