// SPDX-License-Identifier: Apache-2.0
// Server and its GPUs: what is found at the start, and what is said of them afterwards.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "config/compiled_model.h"
#include "lifecycle/model/managed_model.h"
#include "lifecycle/model_manager.h"
#include "observe/metrics/prometheus_text.h"
#include "server/live_json.h"
#include "server/parts.h"
#include "server/server.h"

namespace nereid {
namespace {

PoolSample SampleOf(const MemoryPool* pool) {
  return pool == nullptr ? PoolSample{} : PoolSample{pool->byte_size(), pool->used()};
}

}  // namespace

void Server::FindDevices() {
  parts_->devices = Devices::Find(options_.devices);
  const Devices& devices = *parts_->devices;
  parts_->step_allocator = std::make_unique<StepAllocator>(&in_flight_bytes_, &devices);
  for (const std::string& sentence : devices.Describe()) LOG_INFO << sentence;
  if (const absl::Status fault = devices.fault(); !fault.ok()) LOG_WARNING << fault.message();
  if (devices.used().empty()) {
    if (!options_.devices.given.empty()) {
      LOG_WARNING << "options without effect, because no GPU is used: "
                  << absl::StrJoin(options_.devices.given, " ");
    }
    return;
  }
  if (!options_.metrics || !options_.gpu_metrics) return;
  std::vector<GpuInfo> gpus;
  for (const int id : devices.used()) gpus.push_back(devices.Get(id)->info());
  auto usage = GpuUsage::Start(std::move(gpus), clock_,
                               std::chrono::milliseconds(options_.metrics_interval_ms));
  if (usage.ok()) {
    parts_->gpu_usage = *std::move(usage);
  } else {
    LOG_WARNING << usage.status().message();
  }
}

const Devices& Server::devices() const { return *parts_->devices; }

DeviceSamples Server::ReadDevices() const {
  const Devices& devices = *parts_->devices;
  DeviceSamples samples;
  if (parts_->gpu_usage != nullptr) samples.gpus = parts_->gpu_usage->Latest();
  samples.pinned = SampleOf(devices.pinned_pool());
  for (const int id : devices.used()) {
    samples.on_gpus.emplace_back(devices.Get(id)->info().uuid, SampleOf(devices.gpu_pool(id)));
  }
  return samples;
}

std::string Server::GpuOf(const CompiledModel& model) const {
  if (model.instances.empty()) return "";
  const InstanceSpec& first = model.instances.front();
  const bool same = std::all_of(
      model.instances.begin(), model.instances.end(), [&](const InstanceSpec& instance) {
        return instance.kind == InstanceKind::kGpu && instance.device_id == first.device_id;
      });
  return same ? parts_->devices->Get(first.device_id)->info().uuid : "";
}

std::map<int64_t, uint64_t> Server::InstancesOnGpus() const {
  std::map<int64_t, uint64_t> counts;
  for (const auto& [key, entry] : models_->Directory().models) {
    for (const auto& [version, state] : entry.versions) {
      if (state.model() == nullptr) continue;
      for (const InstanceSpec& instance : state.model()->config().instances) {
        if (instance.kind == InstanceKind::kGpu) ++counts[instance.device_id];
      }
    }
  }
  return counts;
}

std::vector<LiveGpu> Server::LiveGpus() const {
  const Devices& devices = *parts_->devices;
  if (devices.used().empty()) return {};
  std::map<int64_t, uint64_t> instances = InstancesOnGpus();
  std::vector<GpuSample> samples;
  if (parts_->gpu_usage != nullptr) samples = parts_->gpu_usage->Latest();
  std::vector<LiveGpu> gpus;
  for (const int id : devices.used()) {
    const Gpu& gpu = *devices.Get(id);
    const PoolSample pool = SampleOf(devices.gpu_pool(id));
    LiveGpu& live = gpus.emplace_back();
    live.id = id;
    live.name = gpu.info().name;
    live.uuid = gpu.info().uuid;
    live.memory_bytes = gpu.info().total_bytes;
    live.pool_bytes = pool.total_bytes;
    live.pool_used_bytes = pool.used_bytes;
    live.instances = instances[id];
    live.failure = gpu.failure();
    for (const GpuSample& sample : samples) {
      if (sample.id == id) live.reading = sample.reading;
    }
  }
  return gpus;
}

}  // namespace nereid
