// SPDX-License-Identifier: Apache-2.0
#include "infer/serving_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infer/testing/fake_model.h"
#include "observe/metrics/model_metrics.h"

namespace nereid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServingModelTest, LabelsAreFoundByOutputAndIndex) {
  const FakeModel model(ModelBuilder().Build(), Clock::Real(), {{"out", {"cat", "dog"}}});
  EXPECT_STREQ(model.Label("out", 0), "cat");
  EXPECT_STREQ(model.Label("out", 1), "dog");
  EXPECT_EQ(model.Label("out", 2), nullptr);
  EXPECT_EQ(model.Label("other", 0), nullptr);
}

TEST(ServingModelTest, EachInstanceHasAStatisticsShardOfItsOwn) {
  FakeModel model(ModelBuilder().Instances(3).Build());
  for (int shard = 0; shard <= 3; ++shard) {
    model.statistics().RecordFailure(shard, FailureReason::kOther, 1);
  }
  EXPECT_EQ(model.statistics().Snapshot().fail.count, 4u);
}

// What the page shows of a model of this configuration.
std::string PageOf(CompiledModel config, const MetricsConfig& metrics) {
  const FakeModel model(std::move(config), Clock::Real(), {}, metrics);
  ModelMetrics page;
  page.BeginVersion("m", 1);
  model.DescribeMetrics(&page);
  return page.Text();
}

TEST(ServingModelTest, TheMetricsConfigSaysWhatIsOnThePage) {
  CompiledModel config = ModelBuilder().Build();
  config.response_cache = true;
  MetricsConfig metrics;
  std::string page = PageOf(config, metrics);
  for (const char* family : {"nv_inference_count ", "nv_inference_queue_duration_us ",
                             "nv_cache_num_hits_per_model ", "nereid_queue_duration_seconds "}) {
    EXPECT_THAT(page, HasSubstr(std::string("# TYPE ") + family));
  }
  EXPECT_THAT(page, Not(HasSubstr("summary")));
  EXPECT_THAT(page, Not(HasSubstr("first_response")));
  metrics.counter_latencies = false;
  metrics.summary_latencies = true;
  page = PageOf(config, metrics);
  EXPECT_THAT(page, HasSubstr("# TYPE nv_inference_count "));
  EXPECT_THAT(page, HasSubstr("# TYPE nv_cache_hit_summary_per_model "));
  EXPECT_THAT(page, Not(HasSubstr("duration_us")));
  EXPECT_THAT(page, Not(HasSubstr("nv_cache_num")));
  EXPECT_THAT(PageOf(config, MetricsConfig::Off()), Not(HasSubstr("duration")));
}

TEST(ServingModelTest, FirstResponsesAreCounted) {
  CompiledModel config = ModelBuilder().Build();
  MetricsConfig metrics;
  metrics.histogram_latencies = true;
  // In milliseconds for every model, as release 2.73; in seconds where there may be others.
  EXPECT_THAT(PageOf(config, metrics),
              AllOf(HasSubstr("nv_inference_first_response_histogram_ms_bucket{model=\"m\","
                              "version=\"1\",le=\"2000\"} 0\n"),
                    Not(HasSubstr("nereid_first_response_duration_seconds"))));
  config.decoupled = true;
  EXPECT_THAT(PageOf(config, metrics),
              AllOf(HasSubstr("nv_inference_first_response_histogram_ms_bucket{model=\"m\","
                              "version=\"1\",le=\"2000\"} 0\n"),
                    HasSubstr("nereid_first_response_duration_seconds_count")));
  config.first_response_ms = {{1.5, 3}};
  const std::string own = PageOf(config, metrics);
  EXPECT_THAT(own, HasSubstr("first_response_histogram_ms_bucket{model=\"m\",version=\"1\","
                             "le=\"1.5\"} 0\n"));
  EXPECT_THAT(own, Not(HasSubstr("le=\"2000\"")));
}

TEST(ServingModelTest, TheFakeModelFollowsItsScript) {
  FakeModel model(ModelBuilder().Build());
  RequestPtr none;
  EXPECT_EQ(model.Enqueue(&none).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(model.AdmissionOpen());
  EXPECT_TRUE(model.CheckReady().ok());
  model.ready = absl::UnavailableError("warming up");
  model.on_enqueue = [](RequestPtr*) { return absl::OkStatus(); };
  model.admission_open = false;
  EXPECT_TRUE(model.Enqueue(&none).ok());
  EXPECT_FALSE(model.AdmissionOpen());
  EXPECT_EQ(model.CheckReady(), absl::UnavailableError("warming up"));
}

}  // namespace
}  // namespace nereid
