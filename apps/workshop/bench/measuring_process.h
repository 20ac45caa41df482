// SPDX-License-Identifier: Apache-2.0
// What a process needs in order to measure, and how it is interrupted. For the main thread.
#ifndef NEREID_APPS_WORKSHOP_BENCH_MEASURING_PROCESS_H_
#define NEREID_APPS_WORKSHOP_BENCH_MEASURING_PROCESS_H_

#include <absl/status/status.h>

#include <string>

namespace nereid::bench {

// Catches SIGINT and SIGTERM, allows as many connections as the system does, and makes timers
// precise. For the rest of the process's life.
void PrepareToMeasure();

// Whether the user wants to end. The first signal ends a run in good order, the second one at once.
bool Interrupted();

// Writes the file `name`; nothing if it is empty. UNAVAILABLE if it cannot be written.
absl::Status WriteReport(const std::string& name, const std::string& text);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_MEASURING_PROCESS_H_
