// SPDX-License-Identifier: Apache-2.0
// Nvml: what NVIDIA's management library measures of a GPU. It needs no context. Thread-safe:
// immutable after Open, as the library itself is thread-safe. Calls may take milliseconds: not for
// I/O threads.
#ifndef NEREID_DEVICE_NVML_H_
#define NEREID_DEVICE_NVML_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/shared_library.h"
#include "device/nvml_abi.h"

namespace nereid {

// What a GPU does not measure has no value; which that is differs from one kind to the next.
struct GpuReading {
  std::optional<double> utilization;  // 0.0 to 1.0: the share of the time in which a kernel ran
  std::optional<uint64_t> memory_total_bytes;
  std::optional<uint64_t> memory_used_bytes;  // by all processes, without what the driver reserves
  std::optional<double> power_watts;
  std::optional<double> power_limit_watts;
  std::optional<double> energy_joules;  // since the driver was loaded
};

class Nvml {
 public:
  // NOT_FOUND if there is no such library, FAILED_PRECONDITION if it cannot be used.
  static absl::StatusOr<std::unique_ptr<Nvml>> Open(
      const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // The GPU is named by its place on the bus (GpuInfo::pci_bus_id), because NVML numbers GPUs in
  // its own way and knows nothing of CUDA_VISIBLE_DEVICES. UNAVAILABLE if it knows no such GPU, as
  // after one is lost.
  absl::StatusOr<GpuReading> Read(const std::string& pci_bus_id) const;

 private:
  explicit Nvml(std::unique_ptr<SharedLibrary> library) : library_(std::move(library)) {}
  absl::Status Initialize();

  const std::unique_ptr<SharedLibrary> library_;
  nvml::Functions functions_;
  bool is_initialized_ = false;
};

}  // namespace nereid

#endif  // NEREID_DEVICE_NVML_H_
