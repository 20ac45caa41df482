// SPDX-License-Identifier: Apache-2.0
// MachineUsage: processor and memory use of the machine, from /proc. Thread-safe.
#ifndef NEREID_OBSERVE_METRICS_MACHINE_USAGE_H_
#define NEREID_OBSERVE_METRICS_MACHINE_USAGE_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

struct MachineSample {
  double cpu_utilization = 0;  // 0..1, over the interval before the sample
  uint64_t memory_total_bytes = 0;
  uint64_t memory_used_bytes = 0;  // total minus available
};

// Processor time so far, in ticks.
struct CpuTicks {
  uint64_t busy = 0;  // user, nice, system, irq, softirq, steal
  uint64_t idle = 0;  // idle, iowait
};
// The first line of /proc/stat; none if it has another form.
std::optional<CpuTicks> ParseCpuTicks(absl::string_view proc_stat);
// Fills the memory fields from /proc/meminfo; false if it has another form.
bool ParseMemory(absl::string_view proc_meminfo, MachineSample* sample);

class MachineUsage {
 public:
  // A sample is reused for `interval` before the next one is taken.
  MachineUsage(Clock* clock, Duration interval);
  // The latest sample, taken now if the last one is older than the interval. None if /proc cannot
  // be read.
  std::optional<MachineSample> Sample() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Refresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  const Duration interval_;
  Mutex mu_;
  TimePoint taken_at_ ABSL_GUARDED_BY(mu_);
  CpuTicks last_ticks_ ABSL_GUARDED_BY(mu_);
  std::optional<MachineSample> sample_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_MACHINE_USAGE_H_
