// SPDX-License-Identifier: Apache-2.0
// DeviceOptions: the settings of a server that concern GPUs. Plain values.
#ifndef NEREID_DEVICE_DEVICE_OPTIONS_H_
#define NEREID_DEVICE_DEVICE_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace nereid {

// What the user says about GPUs. All of it is without effect where there are none.
struct DeviceOptions {
  static constexpr double kMinComputeCapability = 6.0;
  static constexpr uint64_t kPinnedPoolBytes = 256 << 20;
  static constexpr uint64_t kGpuPoolBytes = 64 << 20;
  static constexpr uint64_t kAddressBytes = 1 << 30;

  // GPUs of an older generation than this are not used.
  std::optional<double> min_compute_capability;  // none: kMinComputeCapability
  std::optional<uint64_t> pinned_pool_bytes;     // none: kPinnedPoolBytes; 0: no pool
  std::map<int, uint64_t> gpu_pool_bytes;        // by GPU; none: kGpuPoolBytes; 0: no pool
  // By GPU: the addresses that are reserved for each state that grows; none: kAddressBytes.
  std::map<int, uint64_t> address_bytes;
  // By GPU: the share of its memory from 0.0 to 1.0 above which no further instance is made there.
  std::map<int, double> load_limits;
  // Options of a command line that were given for GPUs, to be named where no GPU is used.
  std::set<std::string> given;
};

}  // namespace nereid

#endif  // NEREID_DEVICE_DEVICE_OPTIONS_H_
