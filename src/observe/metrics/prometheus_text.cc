// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/prometheus_text.h"

#include <absl/strings/str_cat.h>

#include "observe/metrics/metric_text.h"

namespace nereid {
namespace {

void AppendPlainGauge(absl::string_view name, absl::string_view help, double value,
                      std::string* out) {
  AppendMetricHeader(name, MetricKind::kGauge, help, out);
  AppendMetricSample(name, "", value, out);
}

std::string UuidLabel(const std::string& uuid) {
  return absl::StrCat("gpu_uuid=\"", EscapeLabelValue(uuid), "\"");
}

// A family of which each GPU that measures it has a sample.
struct GpuFamily {
  const char* name;
  MetricKind kind;
  const char* help;
  std::optional<double> (*read)(const GpuReading& reading);
};

constexpr GpuFamily kGpuFamilies[] = {
    {"nv_gpu_utilization", MetricKind::kGauge, "GPU utilization rate [0.0 - 1.0)",
     [](const GpuReading& r) { return r.utilization; }},
    {"nv_gpu_memory_total_bytes", MetricKind::kGauge, "GPU total memory, in bytes",
     [](const GpuReading& r) { return std::optional<double>(r.memory_total_bytes); }},
    {"nv_gpu_memory_used_bytes", MetricKind::kGauge, "GPU used memory, in bytes",
     [](const GpuReading& r) { return std::optional<double>(r.memory_used_bytes); }},
    {"nv_gpu_power_usage", MetricKind::kGauge, "GPU power usage in watts",
     [](const GpuReading& r) { return r.power_watts; }},
    {"nv_gpu_power_limit", MetricKind::kGauge, "GPU power management limit in watts",
     [](const GpuReading& r) { return r.power_limit_watts; }},
    {"nv_energy_consumption", MetricKind::kCounter,
     "GPU energy consumption in joules since the Triton Server started",
     [](const GpuReading& r) { return r.energy_joules; }},
};

void AppendGpus(const std::vector<GpuSample>& gpus, std::string* out) {
  for (const GpuFamily& family : kGpuFamilies) {
    std::string samples;
    for (const GpuSample& gpu : gpus) {
      const std::optional<double> value = family.read(gpu.reading);
      if (value.has_value()) {
        AppendMetricSample(family.name, UuidLabel(gpu.uuid), *value, &samples);
      }
    }
    if (samples.empty()) continue;
    AppendMetricHeader(family.name, family.kind, family.help, out);
    *out += samples;
  }
}

void AppendPools(const DeviceSamples& devices, std::string* out) {
  // There is no pinned memory without a GPU; dashboards still look for the pool.
  AppendPlainGauge("nv_pinned_memory_pool_total_bytes",
                   "Pinned memory pool total memory size, in bytes",
                   static_cast<double>(devices.pinned.total_bytes), out);
  AppendPlainGauge("nv_pinned_memory_pool_used_bytes",
                   "Pinned memory pool used memory size, in bytes",
                   static_cast<double>(devices.pinned.used_bytes), out);
  if (devices.on_gpus.empty()) return;
  AppendMetricHeader("nereid_gpu_memory_pool_total_bytes", MetricKind::kGauge,
                     "Size of the memory pool on the GPU, in bytes", out);
  for (const auto& [uuid, pool] : devices.on_gpus) {
    AppendMetricSample("nereid_gpu_memory_pool_total_bytes", UuidLabel(uuid),
                       static_cast<double>(pool.total_bytes), out);
  }
  AppendMetricHeader("nereid_gpu_memory_pool_used_bytes", MetricKind::kGauge,
                     "Bytes taken from the memory pool on the GPU", out);
  for (const auto& [uuid, pool] : devices.on_gpus) {
    AppendMetricSample("nereid_gpu_memory_pool_used_bytes", UuidLabel(uuid),
                       static_cast<double>(pool.used_bytes), out);
  }
}

}  // namespace

std::string PrometheusText(const ModelMetrics& models, const DeviceSamples& devices,
                           const std::optional<MachineSample>& machine,
                           const std::vector<GaugeSample>& gauges) {
  std::string out = models.Text();
  AppendGpus(devices.gpus, &out);
  AppendPools(devices, &out);
  if (machine.has_value()) {
    AppendPlainGauge("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]",
                     machine->cpu_utilization, &out);
    AppendPlainGauge("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes",
                     static_cast<double>(machine->memory_total_bytes), &out);
    AppendPlainGauge("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes",
                     static_cast<double>(machine->memory_used_bytes), &out);
  }
  for (const GaugeSample& gauge : gauges) {
    AppendPlainGauge(gauge.name, gauge.help, gauge.value, &out);
  }
  return out;
}

}  // namespace nereid
