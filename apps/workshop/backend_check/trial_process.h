// SPDX-License-Identifier: Apache-2.0
// Runs one trial in a process of its own and collects what it reports. Stateless; blocks.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_PROCESS_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_PROCESS_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "backend_check/trial_result.h"
#include "base/clock.h"

namespace nereid {

// `command`: the program and its arguments, to which --report is added. A process that reports
// nothing for `silence` is killed, which is a finding, as is the signal that ends a process.
// INTERNAL if the process can not be started.
absl::StatusOr<TrialResult> RunTrial(const std::vector<std::string>& command, Duration silence);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_PROCESS_H_
