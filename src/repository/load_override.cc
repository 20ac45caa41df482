// SPDX-License-Identifier: Apache-2.0
#include "repository/load_override.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <limits.h>

#include <filesystem>
#include <fstream>

#include "base/outside_text.h"
#include "base/status_macros.h"
#include "filesystem/file_system.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kConfig = "config";
constexpr absl::string_view kFilePrefix = "file:";

const char* TypeName(LoadParameter::Type type) {
  switch (type) {
    case LoadParameter::Type::kString:
      return "STRING";
    case LoadParameter::Type::kInt:
      return "INT";
    case LoadParameter::Type::kBool:
      return "BOOL";
    case LoadParameter::Type::kDouble:
      return "DOUBLE";
    case LoadParameter::Type::kBytes:
      return "BYTES";
  }
  return "STRING";
}

absl::Status Clash(const std::string& parameter) {
  return absl::InvalidArgumentError(absl::StrCat("Invalid file parameter '", parameter,
                                                 "', directory has been created as a file"));
}

// The path of a file parameter, without dots.
absl::StatusOr<fs::path> RelativePath(const std::string& parameter) {
  RETURN_IF_ERROR(CheckOutsideName("file parameter", parameter, PATH_MAX));
  const std::string asked = parameter.substr(kFilePrefix.size());
  if (std::optional<std::string> path = PathInside(asked)) return fs::path(*std::move(path));
  return absl::InvalidArgumentError(absl::StrCat(
      "Invalid file parameter '", parameter, "' with normalized path '",
      fs::path(asked).lexically_normal().string(), "' must stay within model directory."));
}

absl::Status WriteFile(const std::string& parameter, const fs::path& path,
                       const std::string& content) {
  std::error_code error;
  // An existing directory is not an error here, but a file in the way is.
  fs::create_directories(path.parent_path(), error);
  if (!fs::is_directory(path.parent_path(), error) || fs::is_directory(path, error)) {
    return Clash(parameter);
  }
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (file.good()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("failed to write the file of parameter '", parameter, "' to ", path.string()));
}

}  // namespace

absl::StatusOr<LoadOverride> ReadLoadParameters(const std::vector<LoadParameter>& parameters) {
  LoadOverride override;
  for (const LoadParameter& parameter : parameters) {
    if (parameter.name == kConfig) {
      if (parameter.type != LoadParameter::Type::kString) {
        return absl::InvalidArgumentError(
            "Config parameter 'config' must have string type for its value");
      }
      override.config_json = parameter.value;
    } else if (absl::StartsWith(parameter.name, kFilePrefix)) {
      if (parameter.type != LoadParameter::Type::kBytes) {
        return absl::InvalidArgumentError(absl::StrCat("File parameter '", parameter.name,
                                                       "' must have bytes type for its value"));
      }
      override.files[parameter.name] = parameter.value;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("Unrecognized load parameter '",
                                                     parameter.name, "' with type '",
                                                     TypeName(parameter.type), "'"));
    }
  }
  if (!override.files.empty() && !override.config_json.has_value()) {
    return absl::InvalidArgumentError(
        "Load parameter 'config' must be specified for model file override");
  }
  return override;
}

absl::StatusOr<std::unique_ptr<TempDirectory>> MakeModelDirectory(
    const std::map<std::string, std::string>& files) {
  ASSIGN_OR_RETURN(std::unique_ptr<TempDirectory> directory, TempDirectory::Make());
  for (const auto& [parameter, content] : files) {
    ASSIGN_OR_RETURN(const fs::path path, RelativePath(parameter));
    RETURN_IF_ERROR(WriteFile(parameter, fs::path(directory->path()) / path, content));
  }
  return directory;
}

}  // namespace nereid
