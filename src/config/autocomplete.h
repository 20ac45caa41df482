// SPDX-License-Identifier: Apache-2.0
// Completes name, backend, platform and model file name of a configuration from the files in the
// model directory. Stateless; blocks on file I/O.
#ifndef NEREID_CONFIG_AUTOCOMPLETE_H_
#define NEREID_CONFIG_AUTOCOMPLETE_H_

#include <absl/status/status.h>

#include <string>

#include "filesystem/file_system.h"
#include "model_config.pb.h"

namespace nereid {

// `model_name`: the name of the model if the configuration has none. INVALID_ARGUMENT if nothing
// determines the backend, or the error of the file system.
absl::Status AutocompleteBackend(const FileSystem& fs, const std::string& model_dir,
                                 const std::string& model_name, inference::ModelConfig* config);

}  // namespace nereid

#endif  // NEREID_CONFIG_AUTOCOMPLETE_H_
