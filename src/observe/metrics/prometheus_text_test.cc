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
  EXPECT_EQ(PrometheusText(models, {}, std::nullopt, {}),
            std::string("# HELP x What x is\n# TYPE x counter\nx{model=\"m\",version=\"1\"} 1\n") +
                kNoPool);
}

TEST(PrometheusTextTest, WithoutModelsThereAreNoModelFamilies) {
  EXPECT_EQ(PrometheusText(ModelMetrics(), {}, std::nullopt, {}), kNoPool);
}

TEST(PrometheusTextTest, TheMachine) {
  const MachineSample machine{0.5, 16'000'000'000, 4'000'000'000};
  EXPECT_EQ(PrometheusText(ModelMetrics(), {}, machine, {}),
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

TEST(PrometheusTextTest, GpusThatMeasureSomethingAndTheirPools) {
  DeviceSamples devices;
  devices.gpus.resize(2);
  devices.gpus[0].uuid = "GPU-a";
  devices.gpus[0].reading.utilization = 0.5;
  devices.gpus[0].reading.energy_joules = 2.5;
  devices.gpus[1].uuid = "GPU-b";
  devices.gpus[1].reading.utilization = 1;
  devices.gpus[1].reading.memory_used_bytes = 7;
  devices.pinned = {256, 16};
  devices.on_gpus = {{"GPU-a", {64, 0}}, {"GPU-b", {32, 8}}};
  EXPECT_EQ(PrometheusText(ModelMetrics(), devices, std::nullopt, {}),
            "# HELP nv_gpu_utilization GPU utilization rate [0.0 - 1.0)\n"
            "# TYPE nv_gpu_utilization gauge\n"
            "nv_gpu_utilization{gpu_uuid=\"GPU-a\"} 0.5\n"
            "nv_gpu_utilization{gpu_uuid=\"GPU-b\"} 1\n"
            "# HELP nv_gpu_memory_used_bytes GPU used memory, in bytes\n"
            "# TYPE nv_gpu_memory_used_bytes gauge\n"
            "nv_gpu_memory_used_bytes{gpu_uuid=\"GPU-b\"} 7\n"
            "# HELP nv_energy_consumption GPU energy consumption in joules since the Triton Server "
            "started\n"
            "# TYPE nv_energy_consumption counter\n"
            "nv_energy_consumption{gpu_uuid=\"GPU-a\"} 2.5\n"
            "# HELP nv_pinned_memory_pool_total_bytes Pinned memory pool total memory size, in "
            "bytes\n"
            "# TYPE nv_pinned_memory_pool_total_bytes gauge\n"
            "nv_pinned_memory_pool_total_bytes 256\n"
            "# HELP nv_pinned_memory_pool_used_bytes Pinned memory pool used memory size, in "
            "bytes\n"
            "# TYPE nv_pinned_memory_pool_used_bytes gauge\n"
            "nv_pinned_memory_pool_used_bytes 16\n"
            "# HELP nereid_gpu_memory_pool_total_bytes Size of the memory pool on the GPU, in "
            "bytes\n"
            "# TYPE nereid_gpu_memory_pool_total_bytes gauge\n"
            "nereid_gpu_memory_pool_total_bytes{gpu_uuid=\"GPU-a\"} 64\n"
            "nereid_gpu_memory_pool_total_bytes{gpu_uuid=\"GPU-b\"} 32\n"
            "# HELP nereid_gpu_memory_pool_used_bytes Bytes taken from the memory pool on the "
            "GPU\n"
            "# TYPE nereid_gpu_memory_pool_used_bytes gauge\n"
            "nereid_gpu_memory_pool_used_bytes{gpu_uuid=\"GPU-a\"} 0\n"
            "nereid_gpu_memory_pool_used_bytes{gpu_uuid=\"GPU-b\"} 8\n");
}

TEST(PrometheusTextTest, GaugesComeLast) {
  EXPECT_EQ(
      PrometheusText(ModelMetrics(), {}, std::nullopt, {{"nereid_x", "What x is", 3}}),
      std::string(kNoPool) + "# HELP nereid_x What x is\n# TYPE nereid_x gauge\nnereid_x 3\n");
}

}  // namespace
}  // namespace nereid
