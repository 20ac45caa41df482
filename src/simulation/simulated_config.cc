// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_config.h"

#include <utility>

#include "base/status_macros.h"
#include "config/load_config.h"
#include "config/parsed_config.h"
#include "filesystem/local_file_system.h"

namespace nereid {
namespace {

absl::StatusOr<CompiledModel> Compiled(ParsedConfig config) {
  RETURN_IF_ERROR(config.NormalizeInstanceGroups({}));
  return config.Compile(/*version=*/1);
}

}  // namespace

absl::StatusOr<CompiledModel> ModelFromJson(const std::string& json) {
  ASSIGN_OR_RETURN(ParsedConfig config, CompleteModelConfig(json));
  return Compiled(std::move(config));
}

absl::StatusOr<CompiledModel> ModelFromFolder(const std::string& name, const std::string& folder) {
  ConfigSource source;
  source.model_dir = folder;
  source.expected_name = name;
  source.rename = true;
  source.auto_complete = false;
  const LocalFileSystem files;
  ASSIGN_OR_RETURN(ParsedConfig config, LoadModelConfig(files, source));
  return Compiled(std::move(config));
}

}  // namespace nereid
