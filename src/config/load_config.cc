// SPDX-License-Identifier: Apache-2.0
#include "config/load_config.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "config/autocomplete.h"
#include "config/diagnostics.h"
#include "config/json.h"
#include "config/parse.h"
#include "config/supported.h"
#include "config/validate/checks.h"
#include "model_config.pb.h"

namespace nereid {
namespace {

// The file to read: configs/<name>.pbtxt if that is requested and exists, otherwise config.pbtxt.
absl::StatusOr<std::string> FindConfigFile(const FileSystem& fs, const ConfigSource& source) {
  if (!source.model_config_name.empty()) {
    const std::string path =
        JoinPath(source.model_dir, absl::StrCat("configs/", source.model_config_name, ".pbtxt"));
    ASSIGN_OR_RETURN(const bool exists, fs.Exists(path));
    if (exists) return path;
  }
  return JoinPath(source.model_dir, "config.pbtxt");
}

// Fills `config` from the override or the file. Returns false if there is neither, which is not an
// error with auto-completion.
absl::StatusOr<bool> ReadConfig(const FileSystem& fs, const ConfigSource& source,
                                inference::ModelConfig* config) {
  if (source.override_json.has_value()) {
    const absl::Status status = ModelConfigFromJson(*source.override_json, config);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Invalid config override: ", status.message()));
    }
    return true;
  }
  ASSIGN_OR_RETURN(const std::string path, FindConfigFile(fs, source));
  absl::StatusOr<std::string> text = fs.ReadFile(path);
  if (absl::IsNotFound(text.status()) && source.auto_complete) return false;
  if (!text.ok()) return text.status();
  RETURN_IF_ERROR(ParseModelConfigText(path, *text, config));
  return true;
}

}  // namespace

absl::StatusOr<ParsedConfig> ReadModelConfig(const FileSystem& fs, const ConfigSource& source) {
  auto config = std::make_unique<inference::ModelConfig>();
  ASSIGN_OR_RETURN(const bool provided, ReadConfig(fs, source, config.get()));
  return ParsedConfig(std::move(config), provided);
}

absl::StatusOr<ParsedConfig> LoadModelConfig(const FileSystem& fs, const ConfigSource& source) {
  auto config = std::make_unique<inference::ModelConfig>();
  ASSIGN_OR_RETURN(const bool provided, ReadConfig(fs, source, config.get()));
  if (source.rename) config->set_name(source.expected_name);
  RETURN_IF_ERROR(AutocompleteBackend(fs, source.model_dir, source.expected_name, config.get()));
  ParsedConfig parsed(std::move(config), provided);

  Diagnostics diagnostics;
  CheckConfig(parsed.proto(), &diagnostics);
  // With automatic completion the backend first completes inputs and outputs. If the load fails
  // anyway, the backend is not asked, and the user should learn of all mistakes at once.
  if (!source.auto_complete || !diagnostics.problems().empty()) {
    CheckInputsAndOutputs(parsed.proto(), &diagnostics);
  }
  CheckSupported(parsed.proto(), &diagnostics);
  RETURN_IF_ERROR(diagnostics.ToStatus(parsed.name()));

  if (parsed.name() != source.expected_name) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected directory name '", source.expected_name, "' for model '",
                     parsed.name(), "', directory name must equal model name"));
  }
  return parsed;
}

absl::StatusOr<ParsedConfig> CompleteModelConfig(const std::string& json) {
  auto config = std::make_unique<inference::ModelConfig>();
  RETURN_IF_ERROR(ModelConfigFromJson(json, config.get()));
  return ParsedConfig(std::move(config), /*provided=*/true);
}

}  // namespace nereid
