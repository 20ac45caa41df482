// SPDX-License-Identifier: Apache-2.0
// HostPolicy: the processors and the memory node of an instance's threads (--host-policy).
// Immutable.
#ifndef NEREID_EXECUTION_HOST_POLICY_H_
#define NEREID_EXECUTION_HOST_POLICY_H_

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/export.h"

namespace nereid {

// settings[policy][setting] = value, as they were given.
using HostPolicySettings = std::map<std::string, std::map<std::string, std::string>>;

class NEREID_API HostPolicy {
 public:
  // UNIMPLEMENTED for an unknown setting.
  static absl::Status CheckSetting(const std::string& setting);
  // The policy `name`; a policy without settings leaves everything as it is. INVALID_ARGUMENT for a
  // malformed value. Whether the processors exist is checked when they are used.
  static absl::StatusOr<HostPolicy> Make(const HostPolicySettings& settings,
                                         const std::string& name);

  // Places the calling thread, and the threads that it starts from then on.
  // INVALID_ARGUMENT where the machine has no such processors or memory node.
  absl::Status ApplyToThread() const;

  // Whether anything is set.
  bool empty() const { return settings_.empty(); }
  // Ascending, distinct; empty: any.
  const std::vector<int>& cpu_cores() const { return cpu_cores_; }
  std::optional<int> numa_node() const { return numa_node_; }
  // {"<name>":{"<setting>":"<value>"}}
  std::string ToJson() const;

 private:
  absl::Status BindMemory() const;

  std::string name_;
  std::map<std::string, std::string> settings_;
  std::vector<int> cpu_cores_;
  std::optional<int> numa_node_;
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_HOST_POLICY_H_
