// SPDX-License-Identifier: Apache-2.0
// The simulated libnvidia-ml.so.1: it measures what the file SIMULATED_NVML says at that moment, in
// lines like `0 utilization 37`, by the machine's numbers of GPUs. What is not there is not
// supported.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <type_traits>

#include "device/nvml_abi.h"
#include "tests/support/simulated_cuda/settings.h"

using namespace nereid::nvml;  // NOLINT: the functions below have C names
using nereid::simulated_cuda::BusIdOf;

namespace {

bool is_initialized = false;

std::optional<unsigned long long> Value(Device device, const std::string& what) {
  const char* path = std::getenv("SIMULATED_NVML");
  std::ifstream file(path == nullptr ? "" : path);
  uintptr_t number = 0;
  std::string name;
  for (unsigned long long value; file >> number >> name >> value;) {
    if (number + 1 == reinterpret_cast<uintptr_t>(device) && name == what) return value;
  }
  return std::nullopt;
}

template <typename Number>
Result Answer(Device device, const std::string& what, Number* number) {
  const auto value = Value(device, what);
  if (!value.has_value()) return kNotSupported;
  *number = static_cast<Number>(*value);
  return kSuccess;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED Result nvmlInit_v2() {
  if (std::getenv("SIMULATED_NVML") == nullptr) return kDriverNotLoaded;
  is_initialized = true;
  return kSuccess;
}

EXPORTED Result nvmlShutdown() {
  is_initialized = false;
  return kSuccess;
}

EXPORTED const char* nvmlErrorString(Result result) {
  switch (result) {
    case kSuccess:
      return "Success";
    case kUninitialized:
      return "Uninitialized";
    case kNotFound:
      return "Not Found";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case kGpuIsLost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

EXPORTED Result nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* device) {
  if (!is_initialized) return kUninitialized;
  for (uintptr_t number = 0; number < 16; ++number) {
    const auto handle = reinterpret_cast<Device>(number + 1);
    if (BusIdOf(static_cast<int>(number)) != id) continue;
    if (Value(handle, "lost").has_value()) return kGpuIsLost;
    *device = handle;
    return kSuccess;
  }
  return kNotFound;
}

EXPORTED Result nvmlDeviceGetUtilizationRates(Device device, Utilization* rates) {
  return Answer(device, "utilization", &rates->gpu);
}

EXPORTED Result nvmlDeviceGetMemoryInfo_v2(Device device, Memory* memory) {
  if (memory->version != kMemoryVersion) return kInvalidArgument;
  const Result result = Answer(device, "memory_total", &memory->total);
  return result != kSuccess ? result : Answer(device, "memory_used", &memory->used);
}

EXPORTED Result nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return Answer(device, "power_milliwatts", milliwatts);
}

EXPORTED Result nvmlDeviceGetPowerManagementLimit(Device device, unsigned* milliwatts) {
  return Answer(device, "power_limit_milliwatts", milliwatts);
}

EXPORTED Result nvmlDeviceGetTotalEnergyConsumption(Device device,
                                                    unsigned long long* millijoules) {
  return Answer(device, "energy_millijoules", millijoules);
}

// Each function above is as the product declares it.
#define SAME_TYPE(name, symbol, result, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(Functions::name)>);
NEREID_NVML_FUNCTIONS(SAME_TYPE)
