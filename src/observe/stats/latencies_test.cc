// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/latencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "observe/metrics/model_metrics.h"
#include "observe/stats/statistics_metrics.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMicro = 1000;
constexpr uint64_t kMilli = 1000 * kMicro;
constexpr uint64_t kNow = 1000 * kMilli;

// Of 20 ms: 10 ms in the queue, 1 ms, 6 ms and 2 ms computing.
constexpr SuccessTimes kTimes = {kNow - 20 * kMilli,
                                 kNow - 20 * kMilli,
                                 kNow - 10 * kMilli,
                                 kNow - 9 * kMilli,
                                 kNow - 3 * kMilli,
                                 kNow - 1 * kMilli,
                                 kNow};
constexpr CacheHitTimes kHit = {kNow - 300 * kMicro, kNow - 300 * kMicro, kNow - 200 * kMicro,
                                kNow - 50 * kMicro, kNow};

LatencyOptions Everything() {
  LatencyOptions options;
  options.histograms = true;
  options.summaries = true;
  options.quantiles = {0.5, 1};
  return options;
}

std::string Page(const ModelStatistics& statistics) {
  ModelMetrics page;
  page.BeginVersion("m", 1);
  ReportLatencies(statistics.latencies(), statistics.Snapshot(), kNow, &page);
  return page.Text();
}

TEST(LatenciesTest, NothingIsRecordedUnlessAskedFor) {
  ModelStatistics statistics(1, 1);
  statistics.RecordSuccess(0, 1, kTimes);
  EXPECT_FALSE(statistics.latencies().counts_first_responses());
  EXPECT_EQ(Page(statistics), "");
}

TEST(LatenciesTest, HistogramsOfAllShardsAddUp) {
  LatencyOptions options;
  options.histograms = true;
  ModelStatistics statistics(3, 1, options);
  statistics.RecordSuccess(1, 1, kTimes);
  statistics.RecordSuccess(2, 1, kTimes);
  const std::string page = Page(statistics);
  EXPECT_THAT(page,
              HasSubstr("# TYPE nereid_request_duration_seconds histogram\n"
                        "nereid_request_duration_seconds_count{model=\"m\",version=\"1\"} 2\n"
                        "nereid_request_duration_seconds_sum{model=\"m\",version=\"1\"} 0.04\n"
                        "nereid_request_duration_seconds_bucket{model=\"m\",version=\"1\","
                        "le=\"0.0001\"} 0\n"));
  for (const char* line :
       {"request_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"0.01\"} 0\n",
        "request_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"0.025\"} 2\n",
        "request_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"+Inf\"} 2\n",
        "queue_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"0.005\"} 0\n",
        "queue_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"0.01\"} 2\n",
        "compute_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"0.005\"} 0\n",
        "compute_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"0.01\"} 2\n",
        "compute_duration_seconds_sum{model=\"m\",version=\"1\"} 0.018\n"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nnereid_") + line));
  }
  EXPECT_THAT(page, Not(HasSubstr("summary")));
  EXPECT_THAT(page, Not(HasSubstr("first_response")));
}

TEST(LatenciesTest, Summaries) {
  ModelStatistics statistics(1, 1, Everything());
  statistics.RecordSuccess(0, 1, kTimes);
  const std::string page = Page(statistics);
  EXPECT_THAT(page,
              HasSubstr("# TYPE nv_inference_request_summary_us summary\n"
                        "nv_inference_request_summary_us_count{model=\"m\",version=\"1\"} 1\n"
                        "nv_inference_request_summary_us_sum{model=\"m\",version=\"1\"} 20000\n"
                        "nv_inference_request_summary_us{model=\"m\",version=\"1\","
                        "quantile=\"0.5\"} "));
  for (const char* part : {"queue", "compute_input", "compute_infer", "compute_output"}) {
    EXPECT_THAT(page, HasSubstr(std::string("nv_inference_") + part +
                                "_summary_us{model=\"m\",version=\"1\",quantile=\"1\"}"));
  }
  EXPECT_THAT(page, Not(HasSubstr("nv_cache")));
}

TEST(LatenciesTest, AModelWithACacheHasSummariesOfTheCacheButNotOfRequests) {
  LatencyOptions options = Everything();
  options.cached = true;
  ModelStatistics statistics(1, 1, options);
  statistics.RecordSuccess(0, 1, kTimes);
  statistics.RecordCacheHit(kHit);
  statistics.RecordCacheMiss(kNow, 31 * kMicro);
  const std::string page = Page(statistics);
  EXPECT_THAT(page, Not(HasSubstr("nv_inference_request_summary_us")));
  for (const char* line :
       {"nv_cache_hit_summary_per_model_count{model=\"m\",version=\"1\"} 1\n",
        "nv_cache_hit_summary_per_model_sum{model=\"m\",version=\"1\"} 150\n",
        "nv_cache_miss_summary_per_model{model=\"m\",version=\"1\",quantile=\"0.5\"} 31\n",
        "nv_inference_queue_summary_us_count{model=\"m\",version=\"1\"} 2\n",
        "nv_inference_compute_infer_summary_us_count{model=\"m\",version=\"1\"} 1\n",
        // What a miss costs is in no bucket and in no sum.
        "nereid_request_duration_seconds_count{model=\"m\",version=\"1\"} 2\n",
        "nereid_request_duration_seconds_sum{model=\"m\",version=\"1\"} 0.0203\n",
        "nereid_compute_duration_seconds_count{model=\"m\",version=\"1\"} 1\n"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n") + line));
  }
}

TEST(LatenciesTest, ATargetShowsPressureAndMisses) {
  LatencyOptions options;
  options.target_ns = 10 * kMilli;
  ModelStatistics statistics(1, 1, options);
  const auto line = [&](const std::string& name, const std::string& value) {
    return HasSubstr("\n" + name + "{model=\"m\",version=\"1\"} " + value + "\n");
  };
  EXPECT_THAT(Page(statistics), line("nereid_target_pressure", "0"));
  EXPECT_THAT(Page(statistics), line("nereid_target_missed_count", "0"));
  statistics.RecordSuccess(0, 1, kTimes);  // 19 ms from the queue to the end of the execution
  EXPECT_THAT(Page(statistics), line("nereid_target_missed_count", "1"));
  const std::string page = Page(statistics);
  const std::string sample = "nereid_target_pressure{model=\"m\",version=\"1\"} ";
  EXPECT_NEAR(std::stod(page.substr(page.find(sample) + sample.size())), 1.9, 1.9 / 64);
}

TEST(LatenciesTest, FirstResponsesOfDecoupledModels) {
  LatencyOptions options;
  options.histograms = true;
  options.decoupled = true;
  options.first_response_ms = {10, 50};
  ModelStatistics statistics(1, 1, options);
  ASSERT_TRUE(statistics.latencies().counts_first_responses());
  statistics.RecordFirstResponse(10 * kMilli + 900 * kMicro);  // whole milliseconds
  statistics.RecordFirstResponse(60 * kMilli);
  const std::string page = Page(statistics);
  for (const char* line :
       {"nv_inference_first_response_histogram_ms_count{model=\"m\",version=\"1\"} 2\n",
        "nv_inference_first_response_histogram_ms_sum{model=\"m\",version=\"1\"} 70\n",
        "nv_inference_first_response_histogram_ms_bucket{model=\"m\",version=\"1\",le=\"10\"} 1\n",
        "nv_inference_first_response_histogram_ms_bucket{model=\"m\",version=\"1\",le=\"50\"} 1\n",
        "nereid_first_response_duration_seconds_bucket{model=\"m\",version=\"1\",le=\"0.025\"} 1\n",
        "nereid_first_response_duration_seconds_sum{model=\"m\",version=\"1\"} 0.0709\n"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n") + line));
  }
}

}  // namespace
}  // namespace nereid
