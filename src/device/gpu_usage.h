// SPDX-License-Identifier: Apache-2.0
// GpuUsage: what is measured of the GPUs in use, read at intervals by a thread of its own, because
// the management library may take milliseconds. Thread-safe.
#ifndef NEREID_DEVICE_GPU_USAGE_H_
#define NEREID_DEVICE_GPU_USAGE_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/ticker.h"
#include "device/gpus.h"
#include "device/nvml.h"

namespace nereid {

struct GpuSample {
  int id = 0;
  std::string uuid;
  GpuReading reading;  // with the energy since the start
};

class GpuUsage {
 public:
  // Reads once, and from now on twice in each `interval`, so that no sample is older than that.
  // NOT_FOUND or FAILED_PRECONDITION as Nvml::Open. `clock` outlives this.
  static absl::StatusOr<std::unique_ptr<GpuUsage>> Start(
      std::vector<GpuInfo> gpus, Clock* clock, Duration interval,
      const std::string& library = "libnvidia-ml.so.1");
  GpuUsage(const GpuUsage&) = delete;
  GpuUsage& operator=(const GpuUsage&) = delete;

  // The latest sample of each GPU; a GPU that cannot be measured, as one that is lost, has none.
  std::vector<GpuSample> Latest() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  GpuUsage(std::unique_ptr<Nvml> nvml, std::vector<GpuInfo> gpus);
  // Called by one thread at a time.
  void Refresh() ABSL_LOCKS_EXCLUDED(mu_);

  const std::unique_ptr<Nvml> nvml_;
  const std::vector<GpuInfo> gpus_;
  // By place in gpus_. Only Refresh uses them.
  std::vector<std::optional<double>> first_joules_;
  std::vector<bool> is_fault_logged_;
  mutable Mutex mu_;
  std::vector<GpuSample> latest_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Ticker> ticker_;  // last: its thread uses all of the above
};

}  // namespace nereid

#endif  // NEREID_DEVICE_GPU_USAGE_H_
