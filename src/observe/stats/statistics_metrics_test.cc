// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/statistics_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "observe/metrics/model_metrics.h"

namespace nereid {
namespace {

// Word for word as Triton.
constexpr char kGolden[] =
    R"(# HELP nv_inference_request_success Number of successful inference requests, all batch sizes
# TYPE nv_inference_request_success counter
nv_inference_request_success{model="m",version="1"} 5
# HELP nv_inference_request_failure Number of failed inference requests, all batch sizes
# TYPE nv_inference_request_failure counter
nv_inference_request_failure{model="m",reason="REJECTED",version="1"} 1
nv_inference_request_failure{model="m",reason="CANCELED",version="1"} 2
nv_inference_request_failure{model="m",reason="BACKEND",version="1"} 3
nv_inference_request_failure{model="m",reason="OTHER",version="1"} 4
# HELP nv_inference_count Number of inferences performed (does not include cached requests)
# TYPE nv_inference_count counter
nv_inference_count{model="m",version="1"} 12
# HELP nv_inference_exec_count Number of model executions performed (does not include cached requests)
# TYPE nv_inference_exec_count counter
nv_inference_exec_count{model="m",version="1"} 3
# HELP nv_inference_pending_request_count Instantaneous number of pending requests awaiting execution per-model.
# TYPE nv_inference_pending_request_count gauge
nv_inference_pending_request_count{model="m",version="1"} 6
# HELP nv_inference_request_duration_us Cumulative inference request duration in microseconds (includes cached requests)
# TYPE nv_inference_request_duration_us counter
nv_inference_request_duration_us{model="m",version="1"} 100
# HELP nv_inference_queue_duration_us Cumulative inference queuing duration in microseconds (includes cached requests)
# TYPE nv_inference_queue_duration_us counter
nv_inference_queue_duration_us{model="m",version="1"} 10
# HELP nv_inference_compute_input_duration_us Cumulative compute input duration in microseconds (does not include cached requests)
# TYPE nv_inference_compute_input_duration_us counter
nv_inference_compute_input_duration_us{model="m",version="1"} 20
# HELP nv_inference_compute_infer_duration_us Cumulative compute inference duration in microseconds (does not include cached requests)
# TYPE nv_inference_compute_infer_duration_us counter
nv_inference_compute_infer_duration_us{model="m",version="1"} 30
# HELP nv_inference_compute_output_duration_us Cumulative inference compute output duration in microseconds (does not include cached requests)
# TYPE nv_inference_compute_output_duration_us counter
nv_inference_compute_output_duration_us{model="m",version="1"} 40
)";

TEST(StatisticsMetricsTest, Requests) {
  StatisticsSnapshot s;
  s.success = {5, 100'999};
  s.queue = {5, 10'000};
  s.compute_input = {5, 20'000};
  s.compute_infer = {5, 30'000};
  s.compute_output = {5, 40'000};
  s.failures = {1, 2, 3, 4};
  s.inference_count = 12;
  s.execution_count = 3;
  s.pending = 6;
  ModelMetrics page;
  page.BeginVersion("m", 1);
  ReportRequests(s, &page);
  ReportDurations(s, &page);
  EXPECT_EQ(page.Text(), kGolden);
}

TEST(StatisticsMetricsTest, Cache) {
  StatisticsSnapshot s;
  s.cache_hit = {4, 12'999};
  s.cache_miss = {2, 5'000};
  ModelMetrics page;
  page.BeginVersion("m", 1);
  ReportCache(s, &page);
  EXPECT_EQ(page.Text(), R"(# HELP nv_cache_num_hits_per_model Number of cache hits per model
# TYPE nv_cache_num_hits_per_model counter
nv_cache_num_hits_per_model{model="m",version="1"} 4
# HELP nv_cache_hit_duration_per_model Total cache hit duration per model, in microseconds
# TYPE nv_cache_hit_duration_per_model counter
nv_cache_hit_duration_per_model{model="m",version="1"} 12
# HELP nv_cache_num_misses_per_model Number of cache misses per model
# TYPE nv_cache_num_misses_per_model counter
nv_cache_num_misses_per_model{model="m",version="1"} 2
# HELP nv_cache_miss_duration_per_model Total cache miss (insert+lookup) duration per model, in microseconds
# TYPE nv_cache_miss_duration_per_model counter
nv_cache_miss_duration_per_model{model="m",version="1"} 5
)");
}

}  // namespace
}  // namespace nereid
