// SPDX-License-Identifier: Apache-2.0
#include "scheduling/make_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "infer/testing/fake_model.h"
#include "observe/metrics/model_metrics.h"
#include "scheduling/cached/cached_scheduler.h"
#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/ordered_scheduler.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

// A cache that is always empty.
class EmptyCache final : public ResponseCache {
 public:
  const std::string& name() const override { return name_; }
  bool answers_at_once() const override { return true; }
  absl::Status Lookup(const std::string& key,
                      absl::FunctionRef<absl::Status(absl::string_view)>) override {
    return absl::NotFoundError(key);
  }
  absl::Status Insert(const std::string&, size_t, absl::FunctionRef<void(char*)>) override {
    return absl::OkStatus();
  }

 private:
  const std::string name_ = "empty";
};

// An instance without a thread that never gets a batch.
class IdleExecutor final : public BatchExecutor {
 public:
  Duration Execute(Batch) override { return Duration(0); }
};

class MakeSchedulerTest : public ::testing::Test {
 protected:
  MakeSchedulerTest() {
    tools_.clock = &clock_;
    backend_.make_strategy = [this]() -> absl::StatusOr<std::unique_ptr<BatchStrategy>> {
      ++asked_for_strategy_;
      return nullptr;
    };
  }

  absl::StatusOr<std::unique_ptr<Scheduler>> Make() {
    return MakeScheduler(model_, "print", tools_, backend_);
  }

  FakeClock clock_;
  EmptyCache cache_;
  CompiledModel model_ = ModelBuilder("m").MaxBatch(8).Batching().Instances(2).Build();
  SchedulerTools tools_;
  BackendTraits backend_;
  int asked_for_strategy_ = 0;
};

TEST_F(MakeSchedulerTest, InstancesOfAModelWithoutStateShareAQueueAndMayChange) {
  const std::unique_ptr<Scheduler> scheduler = *Make();
  EXPECT_NE(dynamic_cast<DynamicScheduler*>(scheduler.get()), nullptr);
  EXPECT_NE(scheduler->source(0), nullptr);
  EXPECT_EQ(scheduler->source(0), scheduler->source(1));
  EXPECT_TRUE(scheduler->instances_may_change());
  EXPECT_FALSE(scheduler->HasSequence(CorrelationId(1)));
  EXPECT_EQ(scheduler->sequences_in_slots(), std::nullopt);
  EXPECT_EQ(asked_for_strategy_, 1);
}

TEST_F(MakeSchedulerTest, InstancesOfASequenceModelHaveTheirOwnSources) {
  model_.sequence.enabled = true;
  model_.sequence.slots = 1;
  const std::unique_ptr<Scheduler> scheduler = *Make();
  EXPECT_NE(scheduler->source(0), scheduler->source(1));
  EXPECT_FALSE(scheduler->instances_may_change());
  EXPECT_EQ(scheduler->sequences_in_slots(), 0u);
  EXPECT_EQ(asked_for_strategy_, 0);
}

TEST_F(MakeSchedulerTest, AStrategyThatFailsIsTheError) {
  backend_.make_strategy = []() -> absl::StatusOr<std::unique_ptr<BatchStrategy>> {
    return absl::InternalError("no strategy");
  };
  EXPECT_EQ(Make().status(), absl::InternalError("no strategy"));
}

TEST_F(MakeSchedulerTest, TheInlineParameterIsCheckedAlsoForSequences) {
  model_.parameters["nereid.inline_execution"] = "maybe";
  constexpr char kError[] =
      "parameter 'nereid.inline_execution' of model 'm' is 'maybe'; it must be 'true' or 'false'";
  EXPECT_EQ(Make().status(), absl::InvalidArgumentError(kError));
  model_.sequence.enabled = true;
  EXPECT_EQ(Make().status(), absl::InvalidArgumentError(kError));
}

TEST_F(MakeSchedulerTest, LayersStandInFrontAndPassOnWhatIsNotTheirs) {
  model_.response_cache = true;
  model_.parameters["nereid.target_p99_us"] = "5000";
  std::unique_ptr<Scheduler> scheduler = *Make();
  EXPECT_EQ(dynamic_cast<CachedScheduler*>(scheduler.get()), nullptr);  // the server has no cache
  tools_.response_cache = &cache_;
  scheduler = *Make();
  EXPECT_NE(dynamic_cast<CachedScheduler*>(scheduler.get()), nullptr);
  model_.batching.preserve_ordering = true;
  scheduler = *Make();
  EXPECT_NE(dynamic_cast<OrderedScheduler*>(scheduler.get()), nullptr);
  EXPECT_NE(scheduler->source(0), nullptr);
  EXPECT_TRUE(scheduler->instances_may_change());
  EXPECT_EQ(scheduler->sequences_in_slots(), std::nullopt);
  ModelMetrics page;
  page.BeginVersion("m", 1);
  scheduler->DescribeMetrics(&page);
  EXPECT_THAT(page.Text(), HasSubstr("nereid_adaptive_batch_size{model=\"m\",version=\"1\"} 8\n"));
  // RemoveInstance reaches the innermost scheduler: the instance gets an empty batch at once.
  IdleExecutor executor;
  scheduler->RemoveInstance(&executor);
  EXPECT_TRUE(scheduler->source(0)->Pull(&executor, std::nullopt).empty());
}

TEST_F(MakeSchedulerTest, AnEnsembleHasNoInstances) {
  model_.instances.clear();
  absl::StatusOr<StepGraph> graph = StepGraph::Make(model_, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const StepAllocator allocator(nullptr, Devices::None());
  model_.response_cache = true;
  tools_.response_cache = &cache_;
  const std::unique_ptr<Scheduler> scheduler =
      MakeEnsembleScheduler(model_, "print", tools_, *std::move(graph), nullptr, &allocator);
  EXPECT_NE(dynamic_cast<CachedScheduler*>(scheduler.get()), nullptr);
  EXPECT_EQ(scheduler->source(0), nullptr);
  EXPECT_FALSE(scheduler->instances_may_change());
}

}  // namespace
}  // namespace nereid
