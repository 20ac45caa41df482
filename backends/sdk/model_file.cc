// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/model_file.h"

#include <string>

namespace nereid_backend {

Error NoModelFile(const ModelConfig& config, const std::filesystem::path& path,
                  std::string_view hint) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("unable to find '", path.string(), "' for model '", config.name, "'", hint));
}

Result<std::filesystem::path> FindModelFile(const ModelConfig& config,
                                            std::span<const char* const> default_names,
                                            std::string_view hint) {
  const std::filesystem::path folder =
      std::filesystem::path(config.directory) / std::to_string(config.version);
  std::error_code ignored;
  if (!config.default_model_filename.empty()) {
    std::filesystem::path path = folder / config.default_model_filename;
    if (std::filesystem::exists(path, ignored)) return path;
    return NoModelFile(config, path);
  }
  for (const char* name : default_names) {
    std::filesystem::path path = folder / name;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return NoModelFile(config, folder / default_names.front(), hint);
}

}  // namespace nereid_backend
