// SPDX-License-Identifier: Apache-2.0
// Converts sequence_batching.state for CompiledModel. Stateless; LoadInitialStates blocks on file
// I/O.
#ifndef NEREID_CONFIG_STATES_H_
#define NEREID_CONFIG_STATES_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "config/state_spec.h"
#include "filesystem/file_system.h"

namespace nereid::inference {
class ModelConfig;
}

namespace nereid {

// The states of `config`, without the content of files. REQUIRES: CheckStates found no problem.
std::vector<StateSpec> ToStates(const inference::ModelConfig& config);

// Reads the files with the initial states of `model` from the folder `initial_state` of
// `model_dir`. INVALID_ARGUMENT for a file that is too short or outside that folder; errors of the
// file system.
absl::Status LoadInitialStates(const FileSystem& fs, const std::string& model_dir,
                               CompiledModel* model);

}  // namespace nereid

#endif  // NEREID_CONFIG_STATES_H_
