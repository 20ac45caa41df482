// SPDX-License-Identifier: Apache-2.0
// Which models are tuned, and which options fit them. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_TUNABLE_H_
#define NEREID_APPS_WORKSHOP_TUNE_TUNABLE_H_

#include <absl/status/status.h>

#include "config/compiled_model.h"
#include "tune/tune_options.h"

namespace nereid {

// `model`: the one that is tuned, or a member of an ensemble. FAILED_PRECONDITION if models like
// this one are not tuned.
absl::Status CheckTunable(const CompiledModel& model);

// `served`: the model, or the ensemble, that gets the load. INVALID_ARGUMENT if an option has no
// meaning for it.
absl::Status CheckOptionsFor(const CompiledModel& served, const TuneOptions& options);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_TUNABLE_H_
