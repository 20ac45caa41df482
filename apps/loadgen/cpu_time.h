// SPDX-License-Identifier: Apache-2.0
// Processor time of this process and of others. Pure reads of the kernel's counters, thread-safe.
#ifndef NEREID_APPS_LOADGEN_CPU_TIME_H_
#define NEREID_APPS_LOADGEN_CPU_TIME_H_

#include <absl/status/statusor.h>

namespace nereid::bench {

// Seconds of user and system time that this process has used.
double OwnCpuSeconds();

// The same of process `pid`, by its own clock, which is exact. NOT_FOUND if there is no such
// process.
absl::StatusOr<double> CpuSecondsOf(int pid);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_CPU_TIME_H_
