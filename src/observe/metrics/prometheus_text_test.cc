#include "observe/metrics/prometheus_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNoPool[] =
    "# HELP nv_pinned_memory_pool_total_bytes Pinned memory pool total memory size, in bytes\n"
    "# TYPE nv_pinned_memory_pool_total_bytes gauge\n"
    "nv_pinned_memory_pool_total_bytes 0\n"
    "# HELP nv_pinned_memory_pool_used_bytes Pinned memory pool used memory size, in bytes\n"
    "# TYPE nv_pinned_memory_pool_used_bytes gauge\n"
    "nv_pinned_memory_pool_used_bytes 0\n";

ModelMetricsSample Model(const std::string& name, int64_t version) {
  ModelMetricsSample sample;
  sample.model = name;
  sample.version = version;
  return sample;
}

// Everything the original shows for a CPU server with default settings, word for word.
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
# HELP nv_inference_pending_request_count Instantaneous number of pending requests awaiting execution per-model.
# TYPE nv_inference_pending_request_count gauge
nv_inference_pending_request_count{model="m",version="1"} 6
# HELP nereid_inline_execution_count Number of model executions performed by I/O threads
# TYPE nereid_inline_execution_count counter
nereid_inline_execution_count{model="m",version="1"} 2
# HELP nereid_model_requests Requests and live sequences of the model version that are not at their end
# TYPE nereid_model_requests gauge
nereid_model_requests{model="m",version="1"} 5
# HELP nv_model_load_duration_secs Model load time in seconds
# TYPE nv_model_load_duration_secs gauge
nv_model_load_duration_secs{model="m",version="1"} 0.25
)";

TEST(PrometheusTextTest, AModel) {
  ModelMetricsSample model = Model("m", 1);
  model.load_seconds = 0.25;
  model.inline_executions = 2;
  model.open_requests = 5;
  StatisticsSnapshot& s = model.statistics;
  s.success = {5, 100'999};
  s.queue = {5, 10'000};
  s.compute_input = {5, 20'000};
  s.compute_infer = {5, 30'000};
  s.compute_output = {5, 40'000};
  s.failures = {1, 2, 3, 4};
  s.inference_count = 12;
  s.execution_count = 3;
  s.pending = 6;
  EXPECT_EQ(PrometheusText({model}, std::nullopt, {}), std::string(kGolden) + kNoPool);
}

TEST(PrometheusTextTest, SamplesOfAFamilyStandTogether) {
  const std::string text =
      PrometheusText({Model("a", 1), Model("a", 2), Model("b", 1)}, std::nullopt, {});
  EXPECT_THAT(text, HasSubstr("# TYPE nv_inference_count counter\n"
                              "nv_inference_count{model=\"a\",version=\"1\"} 0\n"
                              "nv_inference_count{model=\"a\",version=\"2\"} 0\n"
                              "nv_inference_count{model=\"b\",version=\"1\"} 0\n"
                              "# HELP nv_inference_exec_count"));
}

TEST(PrometheusTextTest, CacheFamiliesOnlyOfModelsThatUseTheCache) {
  ModelMetricsSample cached = Model("cached", 1);
  cached.response_cache = true;
  cached.statistics.cache_hit = {4, 12'999};
  cached.statistics.cache_miss = {2, 5'000};
  const std::string text = PrometheusText({cached, Model("plain", 1)}, std::nullopt, {});
  EXPECT_THAT(text, HasSubstr(R"(# HELP nv_cache_num_hits_per_model Number of cache hits per model
# TYPE nv_cache_num_hits_per_model counter
nv_cache_num_hits_per_model{model="cached",version="1"} 4
# HELP nv_cache_hit_duration_per_model Total cache hit duration per model, in microseconds
# TYPE nv_cache_hit_duration_per_model counter
nv_cache_hit_duration_per_model{model="cached",version="1"} 12
# HELP nv_cache_num_misses_per_model Number of cache misses per model
# TYPE nv_cache_num_misses_per_model counter
nv_cache_num_misses_per_model{model="cached",version="1"} 2
# HELP nv_cache_miss_duration_per_model Total cache miss (insert+lookup) duration per model, in microseconds
# TYPE nv_cache_miss_duration_per_model counter
nv_cache_miss_duration_per_model{model="cached",version="1"} 5
# HELP nv_pinned)"));
  EXPECT_THAT(PrometheusText({Model("plain", 1)}, std::nullopt, {}), Not(HasSubstr("nv_cache")));
}

TEST(PrometheusTextTest, WhatAdaptiveBatchingChoseOnlyOfModelsThatUseIt) {
  ModelMetricsSample adaptive = Model("adaptive", 1);
  adaptive.adaptive = AdaptiveBatchingSample{250, 32};
  const std::string text = PrometheusText({adaptive, Model("plain", 1)}, std::nullopt, {});
  EXPECT_THAT(text,
              HasSubstr("# TYPE nereid_adaptive_batch_delay_us gauge\n"
                        "nereid_adaptive_batch_delay_us{model=\"adaptive\",version=\"1\"} 250\n"
                        "# HELP nereid_adaptive_batch_size Largest batch that adaptive "
                        "batching has chosen\n"
                        "# TYPE nereid_adaptive_batch_size gauge\n"
                        "nereid_adaptive_batch_size{model=\"adaptive\",version=\"1\"} 32\n"
                        "# HELP nv_pinned"));
  EXPECT_THAT(PrometheusText({Model("plain", 1)}, std::nullopt, {}),
              Not(HasSubstr("nereid_adaptive")));
}

TEST(PrometheusTextTest, PeakBytesOnlyOfEnsembles) {
  ModelMetricsSample ensemble = Model("ensemble", 1);
  ensemble.peak_step_bytes = 2048;
  EXPECT_THAT(PrometheusText({ensemble, Model("plain", 1)}, std::nullopt, {}),
              HasSubstr("# TYPE nereid_ensemble_peak_bytes gauge\n"
                        "nereid_ensemble_peak_bytes{model=\"ensemble\",version=\"1\"} 2048\n"
                        "# HELP nv_pinned"));
  EXPECT_THAT(PrometheusText({Model("plain", 1)}, std::nullopt, {}),
              Not(HasSubstr("nereid_ensemble")));
}

TEST(PrometheusTextTest, WithoutModelsThereAreNoModelFamilies) {
  EXPECT_EQ(PrometheusText({}, std::nullopt, {}), kNoPool);
}

TEST(PrometheusTextTest, TheMachine) {
  const MachineSample machine{0.5, 16'000'000'000, 4'000'000'000};
  EXPECT_EQ(PrometheusText({}, machine, {}),
            std::string(kNoPool) +
                "# HELP nv_cpu_utilization CPU utilization rate [0.0 - 1.0]\n"
                "# TYPE nv_cpu_utilization gauge\n"
                "nv_cpu_utilization 0.5\n"
                "# HELP nv_cpu_memory_total_bytes CPU total memory (RAM), in bytes\n"
                "# TYPE nv_cpu_memory_total_bytes gauge\n"
                "nv_cpu_memory_total_bytes 16000000000\n"
                "# HELP nv_cpu_memory_used_bytes CPU used memory (RAM), in bytes\n"
                "# TYPE nv_cpu_memory_used_bytes gauge\n"
                "nv_cpu_memory_used_bytes 4000000000\n");
}

TEST(PrometheusTextTest, GaugesComeLast) {
  EXPECT_EQ(
      PrometheusText({}, std::nullopt, {{"nereid_x", "What x is", 3}}),
      std::string(kNoPool) + "# HELP nereid_x What x is\n# TYPE nereid_x gauge\nnereid_x 3\n");
}

TEST(PrometheusTextTest, ModelNamesAreEscaped) {
  const std::string text = PrometheusText({Model("a\"b\\c\nd", 1)}, std::nullopt, {});
  EXPECT_THAT(text, HasSubstr(R"(nv_inference_count{model="a\"b\\c\nd",version="1"} 0)"));
  EXPECT_THAT(text, Not(HasSubstr("c\nd")));
}

TEST(EscapeLabelValueTest, EscapesWhatTheFormatAsksFor) {
  EXPECT_EQ(EscapeLabelValue("plain"), "plain");
  EXPECT_EQ(EscapeLabelValue("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
}

}  // namespace
}  // namespace nereid
