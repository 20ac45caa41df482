// SPDX-License-Identifier: Apache-2.0
// What the kernel says about a process.
#ifndef NEREID_APPS_WORKSHOP_PROCESS_STAT_PROCESS_STAT_H_
#define NEREID_APPS_WORKSHOP_PROCESS_STAT_PROCESS_STAT_H_

#include <cstdint>
#include <optional>

namespace nereid {

struct ProcessStat {
  int group = 0;
  int64_t cpu_ticks =
      0;  // of sysconf(_SC_CLK_TCK), by user and system; those of ended children not
  uint64_t resident_pages = 0;

  // From /proc/PID/stat; nothing if there is no such process (any more). Thread-safe.
  static std::optional<ProcessStat> Of(int pid);
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_PROCESS_STAT_PROCESS_STAT_H_
