// SPDX-License-Identifier: Apache-2.0
#include "repository/single_model.h"

#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <vector>

#include "config/load_config.h"

namespace nereid {
namespace {

constexpr char kConfigFile[] = "config.pbtxt";
// For a folder without a name, like "." or "/".
constexpr char kFallbackName[] = "model";

bool IsVersion(const DirEntry& entry) {
  return entry.is_directory && absl::c_all_of(entry.name, absl::ascii_isdigit);
}

bool LooksLikeModel(const std::vector<DirEntry>& entries) {
  return absl::c_any_of(entries, [](const DirEntry& entry) {
    return IsVersion(entry) || (!entry.is_directory && entry.name == kConfigFile);
  });
}

std::string NameInConfig(const FileSystem& fs, const std::string& directory) {
  ConfigSource source;
  source.model_dir = directory;
  const absl::StatusOr<ParsedConfig> config = ReadModelConfig(fs, source);
  return config.ok() ? config->name() : "";  // the load reports what is wrong with it
}

std::string NameOfFolder(absl::string_view directory) {
  while (absl::ConsumeSuffix(&directory, "/")) {
  }
  const absl::string_view name = directory.substr(directory.rfind('/') + 1);
  return name.empty() || name == "." || name == ".." ? kFallbackName : std::string(name);
}

}  // namespace

bool IsSingleModel(const FileSystem& fs, const std::string& directory) {
  const auto entries = fs.ListDirectory(directory);
  if (!entries.ok() || !LooksLikeModel(*entries)) return false;
  return absl::c_none_of(*entries, [&](const DirEntry& entry) {
    if (!entry.is_directory) return false;
    const auto inner = fs.ListDirectory(JoinPath(directory, entry.name));
    return inner.ok() && LooksLikeModel(*inner);
  });
}

void FindSingleModels(const FileSystem& fs, const std::string& name, RepositoryLayout* layout) {
  for (const std::string& repository : layout->repositories) {
    if (!IsSingleModel(fs, repository)) continue;
    std::string own = name.empty() ? NameInConfig(fs, repository) : name;
    layout->single_models[repository] = own.empty() ? NameOfFolder(repository) : std::move(own);
  }
}

}  // namespace nereid
