// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/model_demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/retry_after.h"

namespace nereid {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// Models in a repository. Loads and unloads end when a test says so.
class FakeModels final : public DemandedModels {
 public:
  struct Model {
    uint64_t bytes = 100;
    absl::Status load;  // how a load ends
    Use use;
    int loads = 0;
    std::string stamp = "first";
  };

  std::set<std::string> Names() override {
    ++scans;
    std::set<std::string> names;
    for (const auto& [name, model] : models) names.insert(name);
    return names;
  }
  Use Look(const std::string& name) const override {
    const auto found = models.find(name);
    return found == models.end() ? Use() : found->second.use;
  }
  std::string Stamp(const std::string& name) const override {
    const auto found = models.find(name);
    return found == models.end() ? "" : found->second.stamp;
  }
  void Load(const std::string& name, Done done) override {
    ++models[name].loads;
    loading.emplace_back(name, std::move(done));
  }
  void Unload(const std::string& name, Done done) override {
    EXPECT_FALSE(models[name].use.busy) << name;
    unloading.emplace_back(name, std::move(done));
  }
  uint64_t ResidentBytes() const override { return resident; }

  void EndLoads() {
    for (auto& [name, done] : std::exchange(loading, {})) {
      Model& model = models[name];
      if (model.load.ok()) {
        model.use.serves = true;
        resident += model.bytes;
      }
      done(model.load);
    }
  }
  void EndUnloads() {
    for (auto& [name, done] : std::exchange(unloading, {})) {
      Model& model = models[name];
      model.use.serves = false;
      resident -= model.bytes;
      done(absl::OkStatus());
    }
  }

  std::map<std::string, Model> models;
  std::vector<std::pair<std::string, Done>> loading;
  std::vector<std::pair<std::string, Done>> unloading;
  uint64_t resident = 1'000'000;
  int scans = 0;
};

class ModelDemandTest : public testing::Test {
 protected:
  // Models of 100,000 bytes.
  void Add(const std::vector<std::string>& names) {
    for (const std::string& name : names) models_.models[name].bytes = 100'000;
  }
  ModelDemand& Make(uint64_t budget, Duration idle = Duration(0), const std::string& file = "") {
    ModelDemand::Options options;
    options.footprints_file = file;
    options.budget = budget;
    options.idle_limit = idle;
    demand_.emplace(options, &clock_, &models_);
    demand_->Step();
    return *demand_;
  }
  void Settle() {
    for (int i = 0; i < 4; ++i) {
      demand_->Step();
      models_.EndUnloads();
      models_.EndLoads();
    }
    demand_->Step();
  }
  void UseOf(const std::string& name) {
    clock_.Advance(seconds(1));
    if (!models_.models[name].use.serves) {
      ASSERT_TRUE(demand_->Ask(name).has_value()) << name;
      Settle();
    }
    models_.models[name].use.last_used = clock_.Now();
  }
  bool Serves(const std::string& name) { return models_.models[name].use.serves; }

  FakeClock clock_;
  FakeModels models_;
  std::optional<ModelDemand> demand_;
};

TEST_F(ModelDemandTest, OneLoadHoweverManyAsk) {
  Add({"a"});
  ModelDemand& demand = Make(0);
  for (int i = 0; i < 50; ++i) {
    const std::optional<absl::Status> told = demand.Ask("a");
    ASSERT_TRUE(told.has_value());
    EXPECT_EQ(told->code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(RetryAfterOf(*told), 1u);
    EXPECT_EQ(AwaitedModelOf(*told), "a");
    demand.Step();
  }
  EXPECT_EQ(models_.models["a"].loads, 1);
  Settle();
  EXPECT_EQ(demand.Ask("a"), std::nullopt);
  EXPECT_EQ(demand.Count().loads, 1u);
  EXPECT_EQ(demand.FootprintOf("a"), 100'000u);
}

TEST_F(ModelDemandTest, UnknownModelsCostNothing) {
  Add({"a"});
  ModelDemand& demand = Make(0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(demand.Ask("x" + std::to_string(i)), std::nullopt);
  demand.Step();
  EXPECT_EQ(models_.scans, 1);
  EXPECT_EQ(demand.Count().waiting, 0u);
  EXPECT_TRUE(models_.loading.empty());
}

TEST_F(ModelDemandTest, TakesUpNewModels) {
  ModelDemand& demand = Make(0);
  EXPECT_FALSE(demand.CanServe("a"));
  Add({"a"});
  clock_.Advance(seconds(15));
  demand.Step();
  EXPECT_TRUE(demand.CanServe("a"));
}

TEST_F(ModelDemandTest, EvictsTheLeastRecentlyUsedAndLoadsWhenItIsGone) {
  Add({"a", "b", "c"});
  ModelDemand& demand = Make(250'000);
  UseOf("a");
  UseOf("b");
  UseOf("a");
  clock_.Advance(seconds(1));
  ASSERT_TRUE(demand.Ask("c").has_value());
  UseOf("c");
  EXPECT_TRUE(Serves("a"));
  EXPECT_TRUE(Serves("c"));
  clock_.Advance(seconds(1));
  ASSERT_TRUE(demand.Ask("b").has_value());
  demand.Step();
  ASSERT_EQ(models_.unloading.size(), 1u);
  EXPECT_EQ(models_.unloading[0].first, "a");
  demand.Step();
  EXPECT_TRUE(models_.loading.empty());
  models_.models["a"].use.leaving = true;  // has not been torn down yet
  models_.EndUnloads();
  demand.Step();
  EXPECT_TRUE(models_.loading.empty());
  models_.models["a"].use.leaving = false;
  demand.Step();
  ASSERT_EQ(models_.loading.size(), 1u);
  EXPECT_EQ(models_.loading[0].first, "b");
  models_.EndLoads();
  EXPECT_EQ(demand.Count().evictions, 2u);
}

TEST_F(ModelDemandTest, BusyAndPinnedOnesStay) {
  Add({"a", "b", "c"});
  ModelDemand& demand = Make(200'000);
  UseOf("a");
  demand.Pin("b", models_.resident);
  models_.models["b"].use.serves = true;
  models_.resident += 100'000;
  demand.Step();
  models_.models["a"].use.busy = true;
  clock_.Advance(seconds(1));
  ASSERT_TRUE(demand.Ask("c").has_value());
  Settle();
  EXPECT_TRUE(Serves("a"));
  EXPECT_TRUE(Serves("b"));
  EXPECT_FALSE(Serves("c"));
  clock_.Advance(seconds(61));
  demand.Step();
  EXPECT_NE(demand.Ask("c")->message().find("are in use"), std::string::npos);
  models_.models["a"].use.busy = false;
  clock_.Advance(seconds(2));
  UseOf("c");
  EXPECT_FALSE(Serves("a"));
  EXPECT_TRUE(Serves("b"));
  demand.Unpin("b");
  UseOf("a");
  EXPECT_FALSE(Serves("b"));
}

TEST_F(ModelDemandTest, MembersLeaveAfterTheirEnsemble) {
  Add({"ensemble", "member", "c"});
  ModelDemand& demand = Make(250'000);
  UseOf("c");
  clock_.Advance(seconds(1));
  UseOf("member");
  models_.models["ensemble"].use.members = {"member"};
  UseOf("ensemble");
  clock_.Advance(seconds(1));
  ASSERT_TRUE(demand.Ask("c").has_value());
  demand.Step();
  ASSERT_EQ(models_.unloading.size(), 1u);
  EXPECT_EQ(models_.unloading[0].first, "ensemble");
  Settle();
}

TEST_F(ModelDemandTest, AModelWaitsForItsClient) {
  Add({"a", "b"});
  ModelDemand& demand = Make(100'000);
  ASSERT_TRUE(demand.Ask("a").has_value());
  Settle();
  ASSERT_TRUE(demand.Ask("b").has_value());
  Settle();
  EXPECT_FALSE(Serves("b"));
  clock_.Advance(seconds(2));
  Settle();
  EXPECT_TRUE(Serves("b"));
  EXPECT_FALSE(Serves("a"));
}

TEST_F(ModelDemandTest, UnloadsWhatNobodyUses) {
  Add({"a", "b"});
  ModelDemand& demand = Make(0, seconds(10));
  UseOf("a");
  UseOf("b");
  clock_.Advance(seconds(8));
  models_.models["b"].use.last_used = clock_.Now();
  clock_.Advance(seconds(3));
  Settle();
  EXPECT_FALSE(Serves("a"));
  EXPECT_TRUE(Serves("b"));
  EXPECT_EQ(demand.Count().idle_unloads, 1u);
}

TEST_F(ModelDemandTest, RefusesWithTheNumbersWhatCannotFit) {
  Add({"a"});
  models_.models["a"].use.stated_bytes = 500;
  ModelDemand& demand = Make(400);
  ASSERT_TRUE(demand.Ask("a").has_value());  // nothing is known of it yet
  Settle();
  EXPECT_FALSE(Serves("a"));  // it has turned out too large
  ASSERT_TRUE(demand.Ask("a").has_value());
  demand.Step();
  EXPECT_EQ(demand.Ask("a")->message(),
            "model 'a' needs 500 bytes, and at most 400 of --memory-budget=400 can be made free "
            "for it");
}

TEST_F(ModelDemandTest, AFailedLoadIsNotRepeatedAtOnce) {
  Add({"a"});
  models_.models["a"].load = absl::InternalError("no file");
  ModelDemand& demand = Make(0);
  ASSERT_TRUE(demand.Ask("a").has_value());
  Settle();
  EXPECT_FALSE(demand.CanServe("a"));
  EXPECT_EQ(demand.Ask("a")->message(), "model 'a' cannot be loaded: no file");
  EXPECT_EQ(RetryAfterOf(*demand.Ask("a")), 5u);
  Settle();
  EXPECT_EQ(models_.models["a"].loads, 1);
  models_.models["a"].load = absl::OkStatus();
  clock_.Advance(seconds(5));
  UseOf("a");
  EXPECT_TRUE(Serves("a"));
}

TEST_F(ModelDemandTest, WhoWaitsIsCalledWhenTheModelServes) {
  Add({"a", "b"});
  ModelDemand& demand = Make(0);
  const TimePoint until = clock_.Now() + seconds(30);
  int resumed = 0;
  const auto resume = [&resumed] { ++resumed; };
  EXPECT_TRUE(demand.Await("a", until, resume));
  EXPECT_TRUE(demand.Await("a", until, resume));
  EXPECT_EQ(demand.Count().waiting_requests, 2u);
  demand.Step();
  EXPECT_EQ(resumed, 0);
  EXPECT_EQ(models_.models["a"].loads, 1);
  models_.EndLoads();
  demand.Step();
  EXPECT_EQ(resumed, 2);
  demand.Step();
  EXPECT_EQ(resumed, 2);
  EXPECT_FALSE(demand.Await("a", until, resume));  // it serves
  EXPECT_FALSE(demand.Await("x", until, resume));  // there is none
  EXPECT_FALSE(demand.Await("b", clock_.Now(), resume));
  EXPECT_EQ(resumed, 2);
}

TEST_F(ModelDemandTest, WhoWaitsIsCalledWhenTheTimeIsOver) {
  Add({"a", "b"});
  ModelDemand& demand = Make(0);
  std::string resumed;
  EXPECT_TRUE(demand.Await("a", clock_.Now() + seconds(5), [&resumed] { resumed += "a"; }));
  EXPECT_TRUE(demand.Await("a", clock_.Now() + seconds(9), [&resumed] { resumed += "A"; }));
  const TimePoint next = demand.Step();
  EXPECT_LE(next, clock_.Now() + seconds(5));
  clock_.Advance(seconds(5));
  demand.Step();
  EXPECT_EQ(resumed, "a");
  demand.EndWaits();
  EXPECT_EQ(resumed, "aA");
  EXPECT_FALSE(demand.Await("b", clock_.Now() + seconds(9), [] {}));
}

TEST_F(ModelDemandTest, WhoWaitsIsCalledWhenTheLoadHasFailed) {
  Add({"a"});
  models_.models["a"].load = absl::InternalError("no file");
  ModelDemand& demand = Make(0);
  bool resumed = false;
  EXPECT_TRUE(demand.Await("a", clock_.Now() + seconds(9), [&resumed] { resumed = true; }));
  Settle();
  EXPECT_TRUE(resumed);
  EXPECT_FALSE(demand.Await("a", clock_.Now() + seconds(9), [] {}));  // not so soon again
}

TEST_F(ModelDemandTest, AfterItsEndNothingIsLoaded) {
  Add({"a"});
  ModelDemand& demand = Make(0);
  demand.Start();
  EXPECT_TRUE(demand.Stop(TimePoint::max()));
  EXPECT_EQ(demand.Ask("a"), std::nullopt);
}

// Who asks for all models in turn does not evict those in use.
TEST_F(ModelDemandTest, HoldsTheBudgetUnderRandomAccess) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("m" + std::to_string(i));
  Add(names);
  ModelDemand& demand = Make(500'000);
  std::mt19937 random(7);
  UseOf("m0");
  models_.models["m0"].use.busy = true;
  for (int step = 0; step < 3000; ++step) {
    UseOf(names[step % 2 == 0 ? random() % 30 : static_cast<size_t>(step) % 30]);
    ASSERT_TRUE(Serves("m0"));
    uint64_t bytes = 0;
    for (const auto& [name, model] : models_.models) bytes += model.use.serves ? model.bytes : 0;
    ASSERT_LE(bytes, 600'000u);
    ASSERT_LE(demand.Count().bytes, 600'000u);
  }
  EXPECT_GT(demand.Count().evictions, 1000u);
}

class KeptFootprintsTest : public ModelDemandTest {
 protected:
  KeptFootprintsTest() : file_(testing::TempDir() + "/kept_footprints" + std::to_string(getpid())) {
    std::filesystem::remove(file_);
  }
  ~KeptFootprintsTest() override { std::filesystem::remove(file_); }

  // As after a restart: nothing is loaded.
  ModelDemand& Restart(uint64_t budget) {
    for (auto& [name, model] : models_.models) model.use = {};
    return Make(budget, Duration(0), file_);
  }
  // Has the models loaded, and their footprints written.
  void Measure(const std::vector<std::string>& names) {
    for (const std::string& name : names) UseOf(name);
    clock_.Advance(seconds(10));
    demand_->Step();
  }

  const std::string file_;
};

TEST_F(KeptFootprintsTest, AFirstLoadMakesRoomByTheKnownNumber) {
  Add({"a", "b"});
  models_.models["big"].bytes = 150'000;
  Restart(400'000);
  Measure({"a", "b", "big"});
  ModelDemand& demand = Restart(220'000);
  EXPECT_EQ(demand.FootprintOf("big"), 150'000u);
  UseOf("a");
  UseOf("b");
  clock_.Advance(seconds(10));
  demand.Ask("big");
  demand.Step();
  // Both go before the load begins; the space of one would not do.
  EXPECT_EQ(models_.unloading.size(), 2u);
  EXPECT_TRUE(models_.loading.empty());
}

TEST_F(KeptFootprintsTest, WhatCannotFitIsRefusedUntilItChanges) {
  Add({"a"});
  Restart(400'000);
  Measure({"a"});
  ModelDemand& demand = Restart(90'000);
  demand.Ask("a");
  Settle();
  EXPECT_EQ(models_.models["a"].loads, 1);  // before the restart
  EXPECT_THAT(demand.Ask("a")->message(), HasSubstr("needs 100000 bytes, and at most 90000"));
  models_.models["a"] = {.bytes = 70'000, .stamp = "second"};
  clock_.Advance(seconds(10));
  demand.Ask("a");
  Settle();
  EXPECT_TRUE(Serves("a"));
  EXPECT_EQ(demand.FootprintOf("a"), 70'000u);
}

TEST_F(KeptFootprintsTest, ADamagedFileIsIgnoredAndReplaced) {
  Add({"a"});
  std::ofstream(file_) << "footprints of models, 1\n5\tfirst\ta\n";
  ModelDemand& demand = Restart(400'000);
  EXPECT_EQ(demand.FootprintOf("a"), std::nullopt);
  Measure({"a"});
  EXPECT_EQ(Restart(400'000).FootprintOf("a"), 100'000u);
}

}  // namespace
}  // namespace nereid
