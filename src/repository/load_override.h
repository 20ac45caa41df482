// SPDX-License-Identifier: Apache-2.0
// LoadOverride: what a load request substitutes for the content of the repository: a configuration,
// or all files. Plain values and functions; MakeModelDirectory writes files.
#ifndef NEREID_REPOSITORY_LOAD_OVERRIDE_H_
#define NEREID_REPOSITORY_LOAD_OVERRIDE_H_

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/export.h"
#include "filesystem/temp_directory.h"

namespace nereid {

// A parameter of a load request, as clients send it.
struct LoadParameter {
  enum class Type { kString, kInt, kBool, kDouble, kBytes };
  std::string name;
  Type type = Type::kString;
  std::string value;  // for strings and bytes
};

struct LoadOverride {
  std::optional<std::string> config_json;
  // By parameter name, "file:<path>". The model then has these files and no others.
  std::map<std::string, std::string> files;

  bool empty() const { return !config_json.has_value() && files.empty(); }
};

// INVALID_ARGUMENT for a parameter other than "config" and "file:<path>", for one of the wrong
// type, and for files without a configuration.
NEREID_API absl::StatusOr<LoadOverride> ReadLoadParameters(
    const std::vector<LoadParameter>& parameters);

// Makes a new directory that holds `files` (see LoadOverride). INVALID_ARGUMENT for a path that
// leads out of the directory or through another file.
absl::StatusOr<std::unique_ptr<TempDirectory>> MakeModelDirectory(
    const std::map<std::string, std::string>& files);

}  // namespace nereid

#endif  // NEREID_REPOSITORY_LOAD_OVERRIDE_H_
