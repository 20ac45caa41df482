// SPDX-License-Identifier: Apache-2.0
// Configurations for simulations. Stateless; blocks on file I/O.
#ifndef NEREID_SIMULATION_SIMULATED_CONFIG_H_
#define NEREID_SIMULATION_SIMULATED_CONFIG_H_

#include <absl/status/statusor.h>

#include <string>

#include "base/export.h"
#include "config/compiled_model.h"

namespace nereid {

// From the JSON of a served model, which its backend has completed (CompiledModel::json).
// INVALID_ARGUMENT names every problem.
NEREID_API absl::StatusOr<CompiledModel> ModelFromJson(const std::string& json);
// From the file config.pbtxt in `folder`. No backend completes it, so it has to say all that
// matters: inputs, outputs, largest batch. Errors as above, and NOT_FOUND.
NEREID_API absl::StatusOr<CompiledModel> ModelFromFolder(const std::string& name,
                                                         const std::string& folder);

}  // namespace nereid

#endif  // NEREID_SIMULATION_SIMULATED_CONFIG_H_
