// SPDX-License-Identifier: Apache-2.0
// Finds the file of a model's version. Pure except for looking at the file system.
#ifndef NEREID_BACKENDS_SDK_MODEL_FILE_H_
#define NEREID_BACKENDS_SDK_MODEL_FILE_H_

#include <filesystem>
#include <span>
#include <string_view>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// UNAVAILABLE, as in Triton: there is no `path`, which the model needs. `hint` follows the
// sentence.
Error NoModelFile(const ModelConfig& config, const std::filesystem::path& path,
                  std::string_view hint = "");

// <model>/<version>/<default_model_filename>, a file or a folder. Without default_model_filename
// the first of `default_names` that exists there. NoModelFile if there is none; `hint` is for a
// configuration without default_model_filename. REQUIRES: default_names is not empty.
Result<std::filesystem::path> FindModelFile(const ModelConfig& config,
                                            std::span<const char* const> default_names,
                                            std::string_view hint = "");

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_MODEL_FILE_H_
