// SPDX-License-Identifier: Apache-2.0
// The report of a check, for people and for programs. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_REPORT_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_REPORT_H_

#include <string>

#include "backend_check/trial_result.h"

namespace nereid {

// `subject`: the library and the model, for the first line.
std::string BackendReportText(const std::string& subject, const TrialResult& result);
std::string BackendReportJson(const std::string& library, const TrialResult& result);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_REPORT_H_
