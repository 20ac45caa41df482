// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_usage.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {

GpuUsage::GpuUsage(std::unique_ptr<Nvml> nvml, std::vector<GpuInfo> gpus)
    : nvml_(std::move(nvml)),
      gpus_(std::move(gpus)),
      first_joules_(gpus_.size()),
      is_fault_logged_(gpus_.size(), false) {}

absl::StatusOr<std::unique_ptr<GpuUsage>> GpuUsage::Start(std::vector<GpuInfo> gpus, Clock* clock,
                                                          Duration interval,
                                                          const std::string& library) {
  ASSIGN_OR_RETURN(std::unique_ptr<Nvml> nvml, Nvml::Open(library));
  std::unique_ptr<GpuUsage> usage(new GpuUsage(std::move(nvml), std::move(gpus)));
  usage->Refresh();
  const Duration pause = std::max<Duration>(interval / 2, std::chrono::milliseconds(1));
  usage->ticker_ = std::make_unique<Ticker>(clock, pause, "measure the GPUs",
                                            [usage = usage.get()] { usage->Refresh(); });
  return usage;
}

void GpuUsage::Refresh() {
  std::vector<GpuSample> samples;
  for (size_t i = 0; i < gpus_.size(); ++i) {
    absl::StatusOr<GpuReading> reading = nvml_->Read(gpus_[i].pci_bus_id);
    if (!reading.ok()) {
      if (!is_fault_logged_[i]) LOG_WARNING << reading.status().message();
      is_fault_logged_[i] = true;
      continue;
    }
    is_fault_logged_[i] = false;
    if (std::optional<double>& joules = reading->energy_joules; joules.has_value()) {
      if (!first_joules_[i].has_value()) first_joules_[i] = *joules;
      *joules = std::max(0.0, *joules - *first_joules_[i]);
    }
    samples.push_back({gpus_[i].id, gpus_[i].uuid, *std::move(reading)});
  }
  MutexLock lock(&mu_);
  latest_.swap(samples);
}

std::vector<GpuSample> GpuUsage::Latest() const {
  MutexLock lock(&mu_);
  return latest_;
}

}  // namespace nereid
