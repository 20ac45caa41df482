// LoadOverride: what a load request puts in the place of what the repository has: a configuration,
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
  std::string value;  // of strings and bytes
};

struct LoadOverride {
  std::optional<std::string> config_json;
  // By name of the parameter, "file:<path>". They are all files that the model then has.
  std::map<std::string, std::string> files;

  bool empty() const { return !config_json.has_value() && files.empty(); }
};

// INVALID_ARGUMENT for a parameter that is none of "config" and "file:<path>" or has another type
// than these, and for files without a configuration.
NEREID_API absl::StatusOr<LoadOverride> ReadLoadParameters(
    const std::vector<LoadParameter>& parameters);

// A new directory that holds `files` (see LoadOverride). INVALID_ARGUMENT for a path that leads out
// of it, or through another file.
absl::StatusOr<std::unique_ptr<TempDirectory>> MakeModelDirectory(
    const std::map<std::string, std::string>& files);

}  // namespace nereid

#endif  // NEREID_REPOSITORY_LOAD_OVERRIDE_H_
