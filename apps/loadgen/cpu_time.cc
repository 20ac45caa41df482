#include "apps/loadgen/cpu_time.h"

#include <absl/strings/str_cat.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "apps/process_stat/process_stat.h"

namespace nereid::bench {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double OwnCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

absl::StatusOr<double> CpuSecondsOf(int pid) {
  const std::optional<ProcessStat> stat = ProcessStat::Of(pid);
  if (!stat.has_value()) return absl::NotFoundError(absl::StrCat("no process ", pid));
  return static_cast<double>(stat->cpu_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace nereid::bench
