// SPDX-License-Identifier: Apache-2.0
#include "device/nvml.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid {

absl::StatusOr<std::unique_ptr<Nvml>> Nvml::Open(const std::string& library) {
  auto opened = SharedLibrary::Open(library);
  if (!opened.ok()) {
    const auto text = absl::StrCat("GPUs are not measured because ", library,
                                   " cannot be loaded: ", opened.status().message());
    const bool is_missing = absl::StrContains(
        opened.status().message(), absl::StrCat(library, ": cannot open shared object file"));
    return is_missing ? absl::NotFoundError(text) : absl::FailedPreconditionError(text);
  }
  std::unique_ptr<Nvml> nvml(new Nvml(*std::move(opened)));
  RETURN_IF_ERROR(nvml->Initialize());
  return nvml;
}

absl::Status Nvml::Initialize() {
  const char* missing = nullptr;
  const auto find = [&](const char* symbol) {
    void* address = library_->Find(symbol);
    if (address == nullptr && missing == nullptr) missing = symbol;
    return address;
  };
#define NEREID_NVML_FIND(name, symbol, result, parameters) \
  functions_.name = reinterpret_cast<decltype(functions_.name)>(find(#symbol));
  NEREID_NVML_FUNCTIONS(NEREID_NVML_FIND)
#undef NEREID_NVML_FIND
  if (missing != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("GPUs are not measured because ", library_->path(), " has no function ",
                     missing, ": that of a driver for CUDA 11.4 or newer is needed"));
  }
  const nvml::Result result = functions_.Init();
  if (result != nvml::kSuccess) {
    return absl::FailedPreconditionError(
        absl::StrCat("GPUs are not measured because NVIDIA's management library does not start: ",
                     functions_.ErrorString(result)));
  }
  is_initialized_ = true;
  return absl::OkStatus();
}

Nvml::~Nvml() {
  if (is_initialized_) functions_.Shutdown();
}

absl::StatusOr<GpuReading> Nvml::Read(const std::string& pci_bus_id) const {
  nvml::Device device = nullptr;
  const nvml::Result result = functions_.GetHandleByPciBusId(pci_bus_id.c_str(), &device);
  if (result != nvml::kSuccess) {
    return absl::UnavailableError(absl::StrCat(
        "the GPU at ", pci_bus_id, " cannot be measured: ", functions_.ErrorString(result)));
  }
  GpuReading reading;
  nvml::Utilization utilization = {};
  nvml::Memory memory = {};
  memory.version = nvml::kMemoryVersion;
  unsigned milliwatts = 0;
  unsigned long long millijoules = 0;
  if (functions_.GetUtilization(device, &utilization) == nvml::kSuccess) {
    reading.utilization = utilization.gpu / 100.0;
  }
  if (functions_.GetMemory(device, &memory) == nvml::kSuccess) {
    reading.memory_total_bytes = memory.total;
    reading.memory_used_bytes = memory.used;
  }
  if (functions_.GetPowerUsage(device, &milliwatts) == nvml::kSuccess) {
    reading.power_watts = milliwatts / 1000.0;
  }
  if (functions_.GetPowerLimit(device, &milliwatts) == nvml::kSuccess) {
    reading.power_limit_watts = milliwatts / 1000.0;
  }
  if (functions_.GetEnergy(device, &millijoules) == nvml::kSuccess) {
    reading.energy_joules = static_cast<double>(millijoules) / 1000.0;
  }
  return reading;
}

}  // namespace nereid
