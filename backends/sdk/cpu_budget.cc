// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/cpu_budget.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>

namespace nereid_backend {
namespace {

double Smaller(double a, double b) {
  if (a <= 0) return b;
  return b <= 0 ? a : std::min(a, b);
}

// cgroup v2: "max 100000" or "150000 100000".
double QuotaV2(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// cgroup v1: -1 is no quota.
double QuotaV1(const std::string& directory) {
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us");
  std::ifstream period_file(directory + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period
                                                                                 : 0;
}

// Smallest quota of `path` and the groups above it. In a container the path may be that of the
// host while only the container's own group is mounted: folders that are not there have no quota.
template <typename Quota>
double AlongPath(const std::string& mount, std::string path, Quota quota) {
  double smallest = quota(mount);
  while (path.size() > 1) {
    smallest = Smaller(smallest, quota(mount + path));
    path.resize(path.rfind('/'));
  }
  return smallest;
}

bool HasController(std::string_view list, std::string_view name) {
  std::istringstream in{std::string(list)};
  for (std::string item; std::getline(in, item, ',');) {
    if (item == name) return true;
  }
  return false;
}

}  // namespace

double ReadCpuQuota(const std::string& root) {
  double smallest = 0;
  std::ifstream file(root + "/proc/self/cgroup");
  // Lines "<id>:<controllers>:<path>"; version 2 has id 0 and no controllers.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (controllers.empty()) {
      smallest = Smaller(smallest, AlongPath(root + "/sys/fs/cgroup", path, QuotaV2));
    } else if (HasController(controllers, "cpu")) {
      smallest = Smaller(smallest, AlongPath(root + "/sys/fs/cgroup/cpu", path, QuotaV1));
    }
  }
  return smallest;
}

CpuBudget ReadCpuBudget() {
  CpuBudget budget;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    budget.visible_cpus = std::max(1, CPU_COUNT(&set));
  }
  budget.quota_cpus = ReadCpuQuota("");
  budget.threads = budget.visible_cpus;
  if (budget.quota_cpus > 0) {
    // Rounded up: half a CPU still needs a thread, and 1.5 CPUs are wasted on one.
    const int quota = static_cast<int>(std::ceil(budget.quota_cpus - 1e-9));
    budget.threads = std::max(1, std::min(budget.visible_cpus, quota));
  }
  return budget;
}

std::string CpuBudget::Describe() const {
  std::ostringstream out;
  out << visible_cpus << (visible_cpus == 1 ? " CPU" : " CPUs") << " visible, ";
  if (quota_cpus > 0) {
    out << "quota " << quota_cpus << " CPUs";
  } else {
    out << "no quota";
  }
  return out.str();
}

}  // namespace nereid_backend
