// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/residency_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using Decided = LoadDecision::Kind;

TimePoint At(int64_t seconds) { return TimePoint{} + std::chrono::seconds(seconds); }

ResidentModel Model(uint64_t bytes, int64_t used) {
  ResidentModel model;
  model.bytes = bytes;
  model.last_used = At(used);
  return model;
}

TEST(ResidencyPolicyTest, EvictsTheLeastRecentlyUsedAndNoMoreThanNeeded) {
  const MemoryState state{.budget = 30, .residents = {Model(10, 3), Model(10, 1), Model(10, 2)}};
  const LoadDecision decision = DecideLoad(state, 15, At(9));
  EXPECT_EQ(decision.kind, Decided::kBegin);
  EXPECT_EQ(decision.victims, (std::vector<size_t>{1, 2}));
}

TEST(ResidencyPolicyTest, KeepsBusyAndPinnedOnes) {
  MemoryState state{.budget = 30, .residents = {Model(10, 1), Model(10, 2), Model(10, 3)}};
  state.residents[0].busy = true;
  state.residents[1].pinned = true;
  EXPECT_EQ(DecideLoad(state, 10, At(9)).victims, std::vector<size_t>{2});
  EXPECT_EQ(DecideLoad(state, 11, At(9)).kind, Decided::kWait);
  EXPECT_EQ(DecideLoad(state, 11, At(9)).again_at, TimePoint::max());
  EXPECT_EQ(DecideLoad(state, 21, At(9)).kind, Decided::kRefuse);
  EXPECT_EQ(DecideLoad(state, 21, At(9)).most_bytes, 20u);
}

TEST(ResidencyPolicyTest, AModelStaysAsLongAsItsLoadTook) {
  MemoryState state{.budget = 10, .residents = {Model(10, 1)}};
  state.residents[0].loaded_at = At(5);
  state.residents[0].stays = std::chrono::seconds(4);
  EXPECT_EQ(DecideLoad(state, 10, At(8)).kind, Decided::kWait);
  EXPECT_EQ(DecideLoad(state, 10, At(8)).again_at, At(9));
  EXPECT_EQ(DecideLoad(state, 10, At(9)).kind, Decided::kBegin);
}

TEST(ResidencyPolicyTest, LoadsOneUnmeasuredModelAtATime) {
  MemoryState state{.budget = 10};
  EXPECT_EQ(DecideLoad(state, 0, At(1)).kind, Decided::kBegin);
  state.loading = 1;
  EXPECT_EQ(DecideLoad(state, 0, At(1)).kind, Decided::kWait);
  EXPECT_EQ(DecideLoad(state, 10, At(1)).kind, Decided::kBegin);
  state.loading_unknown = true;
  EXPECT_EQ(DecideLoad(state, 10, At(1)).kind, Decided::kWait);
}

TEST(ResidencyPolicyTest, WaitsForWhatIsLeavingAndEvictsNoOther) {
  const MemoryState state{.budget = 25, .residents = {Model(10, 1)}, .leaving_bytes = 10};
  EXPECT_EQ(DecideLoad(state, 10, At(9)).kind, Decided::kWait);
  EXPECT_TRUE(DecideLoad(state, 10, At(9)).room_comes);
  EXPECT_EQ(DecideLoad(state, 16, At(9)).victims, std::vector<size_t>{0});
  EXPECT_TRUE(DecideTrim(state, At(9)).empty());
}

TEST(ResidencyPolicyTest, TrimsWhatIsOverTheBudget) {
  MemoryState state{.budget = 25, .residents = {Model(10, 2), Model(10, 1), Model(10, 3)}};
  EXPECT_EQ(DecideTrim(state, At(9)), std::vector<size_t>{1});
  state.residents[1].busy = true;
  EXPECT_EQ(DecideTrim(state, At(9)), std::vector<size_t>{0});
}

TEST(ResidencyPolicyTest, FindsIdleOnes) {
  MemoryState state{.budget = 99, .residents = {Model(1, 1), Model(1, 6), Model(1, 1)}};
  state.residents[2].pinned = true;
  EXPECT_EQ(DecideIdle(state, std::chrono::seconds(5), At(9)), std::vector<size_t>{0});
}

// Which of `models` is asked for in step `step`.
size_t Asked(int pattern, int step, size_t models, std::mt19937* random) {
  if (pattern == 0) return (*random)() % models;                    // uniform
  if (pattern == 1) return static_cast<size_t>(step) % models;      // all in turn
  return std::min((*random)() % models, (*random)() % models) / 2;  // skewed
}

// Carries out `decision` for a model of `known` bytes, and checks it.
void Evict(const LoadDecision& decision, uint64_t known, TimePoint now, MemoryState* state) {
  const std::set<size_t> gone(decision.victims.begin(), decision.victims.end());
  ASSERT_EQ(gone.size(), decision.victims.size());
  std::vector<ResidentModel> stay;
  uint64_t bytes = 0;
  for (size_t i = 0; i < state->residents.size(); ++i) {
    const ResidentModel& model = state->residents[i];
    if (gone.contains(i)) {
      ASSERT_FALSE(model.busy);
      ASSERT_LE(model.loaded_at + model.stays, now);
      continue;
    }
    bytes += model.bytes;
    stay.push_back(model);
  }
  ASSERT_LE(bytes + known, state->budget);
  ASSERT_LT(bytes, state->budget);  // so with an unmeasured one: the budget plus one model
  state->residents = std::move(stay);
}

TEST(ResidencyPolicyTest, HoldsItsRulesUnderRandomAccess) {
  constexpr size_t kModels = 40;
  for (int pattern = 0; pattern < 3; ++pattern) {
    std::mt19937 random(static_cast<uint32_t>(pattern));
    std::vector<uint64_t> sizes;
    for (size_t i = 0; i < kModels; ++i) sizes.push_back(1 + random() % 20);
    std::set<size_t> measured;
    MemoryState state{.budget = 100};
    int begun = 0;
    for (int step = 0; step < 20000; ++step) {
      const TimePoint now = At(step);
      for (ResidentModel& model : state.residents) model.busy = random() % 8 == 0;
      const size_t asked = Asked(pattern, step, kModels, &random);
      const std::string name = std::to_string(asked);
      auto found = std::find_if(state.residents.begin(), state.residents.end(),
                                [&name](const ResidentModel& model) { return model.name == name; });
      if (found != state.residents.end()) {
        found->last_used = now;
        continue;
      }
      const uint64_t known = measured.contains(asked) ? sizes[asked] : 0;
      const LoadDecision decision = DecideLoad(state, known, now);
      ASSERT_NE(decision.kind, Decided::kRefuse);
      if (decision.kind != Decided::kBegin) continue;
      ASSERT_NO_FATAL_FAILURE(Evict(decision, known, now, &state));
      ResidentModel loaded = Model(sizes[asked], step);
      loaded.name = name;
      loaded.loaded_at = now;
      loaded.stays = std::chrono::seconds(random() % 5);
      state.residents.push_back(loaded);
      measured.insert(asked);
      ++begun;
    }
    EXPECT_GT(begun, 1000) << "pattern " << pattern;
  }
}

}  // namespace
}  // namespace nereid
