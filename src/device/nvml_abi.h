// SPDX-License-Identifier: Apache-2.0
// The part of NVIDIA's management library that the product uses, declared here as cuda_abi.h does
// for the driver. Plain values.
#ifndef NEREID_DEVICE_NVML_ABI_H_
#define NEREID_DEVICE_NVML_ABI_H_

namespace nereid::nvml {

using Result = int;
using Device = struct OpaqueDevice*;

inline constexpr Result kSuccess = 0;
inline constexpr Result kUninitialized = 1;
inline constexpr Result kInvalidArgument = 2;
inline constexpr Result kNotSupported = 3;
inline constexpr Result kNotFound = 6;
inline constexpr Result kDriverNotLoaded = 9;
inline constexpr Result kGpuIsLost = 15;

struct Utilization {
  unsigned gpu;     // percent of the time in which a kernel ran
  unsigned memory;  // percent of the time in which memory was read or written
};

struct Memory {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
inline constexpr unsigned kMemoryVersion = sizeof(Memory) | (2u << 24);

// NEREID_NVML_FUNCTIONS(F) is F(name here, exported symbol, result, parameters) for each function.
#define NEREID_NVML_FUNCTIONS(F)                                                                 \
  F(Init, nvmlInit_v2, Result, ())                                                               \
  F(Shutdown, nvmlShutdown, Result, ())                                                          \
  F(ErrorString, nvmlErrorString, const char*, (Result result))                                  \
  F(GetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2, Result,                               \
    (const char* id, Device* device))                                                            \
  F(GetUtilization, nvmlDeviceGetUtilizationRates, Result, (Device device, Utilization * rates)) \
  F(GetMemory, nvmlDeviceGetMemoryInfo_v2, Result, (Device device, Memory * memory))             \
  F(GetPowerUsage, nvmlDeviceGetPowerUsage, Result, (Device device, unsigned* milliwatts))       \
  F(GetPowerLimit, nvmlDeviceGetPowerManagementLimit, Result,                                    \
    (Device device, unsigned* milliwatts))                                                       \
  F(GetEnergy, nvmlDeviceGetTotalEnergyConsumption, Result,                                      \
    (Device device, unsigned long long* millijoules))

#define NEREID_NVML_MEMBER(name, symbol, result, parameters) result(*name) parameters = nullptr;
struct Functions {
  NEREID_NVML_FUNCTIONS(NEREID_NVML_MEMBER)
};
#undef NEREID_NVML_MEMBER

}  // namespace nereid::nvml

#endif  // NEREID_DEVICE_NVML_ABI_H_
