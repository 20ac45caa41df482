// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/prometheus_text.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

constexpr char kNoPool[] =
    "# HELP nv_pinned_memory_pool_total_bytes Pinned memory pool total memory size, in bytes\n"
    "# TYPE nv_pinned_memory_pool_total_bytes gauge\n"
    "nv_pinned_memory_pool_total_bytes 0\n"
    "# HELP nv_pinned_memory_pool_used_bytes Pinned memory pool used memory size, in bytes\n"
    "# TYPE nv_pinned_memory_pool_used_bytes gauge\n"
    "nv_pinned_memory_pool_used_bytes 0\n";

TEST(PrometheusTextTest, ModelsComeFirst) {
  static constexpr MetricFamily kFamily = {"x", MetricKind::kCounter, "What x is"};
  ModelMetrics models;
  models.BeginVersion("m", 1);
  models.Report(kFamily, 1);
  EXPECT_EQ(PrometheusText(models, std::nullopt, {}),
            std::string("# HELP x What x is\n# TYPE x counter\nx{model=\"m\",version=\"1\"} 1\n") +
                kNoPool);
}

TEST(PrometheusTextTest, WithoutModelsThereAreNoModelFamilies) {
  EXPECT_EQ(PrometheusText(ModelMetrics(), std::nullopt, {}), kNoPool);
}

TEST(PrometheusTextTest, TheMachine) {
  const MachineSample machine{0.5, 16'000'000'000, 4'000'000'000};
  EXPECT_EQ(PrometheusText(ModelMetrics(), machine, {}),
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
      PrometheusText(ModelMetrics(), std::nullopt, {{"nereid_x", "What x is", 3}}),
      std::string(kNoPool) + "# HELP nereid_x What x is\n# TYPE nereid_x gauge\nnereid_x 3\n");
}

}  // namespace
}  // namespace nereid
