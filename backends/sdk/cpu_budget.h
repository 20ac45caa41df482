// SPDX-License-Identifier: Apache-2.0
// How many CPUs this process may use: its affinity mask, limited by the CPU quota of its control
// group (cgroup v2 or v1), which is how containers limit CPU. Stateless, thread-safe.
#ifndef NEREID_BACKENDS_SDK_CPU_BUDGET_H_
#define NEREID_BACKENDS_SDK_CPU_BUDGET_H_

#include <string>

namespace nereid_backend {

struct CpuBudget {
  int visible_cpus = 1;     // by affinity mask
  double quota_cpus = 0.0;  // by control group; 0: no quota
  int threads = 1;          // threads that can run at once: the smaller of both, at least 1

  // "2 CPUs visible, quota 1.5 CPUs".
  std::string Describe() const;
};

CpuBudget ReadCpuBudget();

// The quota in CPUs according to the files under `root` ("/" on a real machine), 0 if there is
// none: the smallest along the path from the process's own group to the top.
double ReadCpuQuota(const std::string& root);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_CPU_BUDGET_H_
