// SPDX-License-Identifier: Apache-2.0
#include "execution/host_policy.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/json_writer.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

constexpr char kNumaNode[] = "numa-node";
constexpr char kCpuCores[] = "cpu-cores";

// The number in `text`; none if `text` is not a number below `limit`.
std::optional<int> ParseNumber(absl::string_view text, int limit) {
  int number = 0;
  if (text.empty() || !std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &number) || number >= limit) {
    return std::nullopt;
  }
  return number;
}

// Parses numbers and ranges of numbers, like "0-3,6". False if `text` is anything else.
bool ParseCores(absl::string_view text, std::vector<int>* cores) {
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(part, '-');
    if (ends.size() > 2) return false;
    const std::optional<int> first = ParseNumber(ends.front(), CPU_SETSIZE);
    const std::optional<int> last = ParseNumber(ends.back(), CPU_SETSIZE);
    if (!first.has_value() || !last.has_value() || *first > *last) return false;
    for (int core = *first; core <= *last; ++core) cores->push_back(core);
  }
  std::sort(cores->begin(), cores->end());
  cores->erase(std::unique(cores->begin(), cores->end()), cores->end());
  return true;
}

}  // namespace

absl::Status HostPolicy::CheckSetting(const std::string& setting) {
  if (setting == kNumaNode || setting == kCpuCores) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("Unsupported host policy setting '", setting,
                   "' is specified, supported settings are 'numa-node', 'cpu-cores'"));
}

absl::StatusOr<HostPolicy> HostPolicy::Make(const HostPolicySettings& settings,
                                            const std::string& name) {
  HostPolicy policy;
  policy.name_ = name;
  const auto found = settings.find(name);
  if (found == settings.end()) return policy;
  policy.settings_ = found->second;
  for (const auto& [setting, value] : policy.settings_) {
    RETURN_IF_ERROR(CheckSetting(setting));
    if (setting == kCpuCores && !ParseCores(value, &policy.cpu_cores_)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "host policy setting 'cpu-cores' format is '<lower_cpu_core_id>-<upper_cpu_core_id>' or "
          "'<cpu_core_id>,<cpu_core_id>'. Got ",
          value));
    }
    if (setting == kNumaNode) {
      policy.numa_node_ = ParseNumber(value, kMostMemoryNodes);
      if (!policy.numa_node_.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat("host policy setting 'numa-node' is the number of a node. Got ", value));
      }
    }
  }
  return policy;
}

absl::Status HostPolicy::BindMemory() const {
  if (BindMemoryToNode(*numa_node_)) return absl::OkStatus();
  const int error = errno;
  if (error == ENOSYS || error == EPERM) {
    // The kernel has no support for memory nodes, or the container does not permit the call.
    LOG_WARNING << "host policy '" << name_ << "': memory cannot be bound to node " << *numa_node_
                << ": " << std::strerror(error);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("Unable to set NUMA memory policy: ", std::strerror(error), " (host policy '",
                   name_, "', node ", *numa_node_, ")"));
}

absl::Status HostPolicy::ApplyToThread() const {
  if (numa_node_.has_value()) RETURN_IF_ERROR(BindMemory());
  if (!cpu_cores_.empty() && !RunOnProcessors(cpu_cores_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to set NUMA thread affinity: ", std::strerror(errno),
                     " (host policy '", name_, "', processors ", settings_.at(kCpuCores), ")"));
  }
  return absl::OkStatus();
}

std::string HostPolicy::ToJson() const {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.BeginObject(name_);
  for (const auto& [setting, value] : settings_) {
    writer.Add(setting, value);
  }
  writer.EndObject();
  writer.EndObject();
  return json;
}

}  // namespace nereid
