// SPDX-License-Identifier: Apache-2.0
#include "filesystem/file_system.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <filesystem>

namespace nereid {

absl::Status FileSystem::Refresh(const std::string& /*repository*/) const {
  return absl::OkStatus();
}

void FileSystem::Prefetch(const std::vector<std::string>& /*directories*/) const {}

absl::StatusOr<std::unique_ptr<TempDirectory>> FileSystem::Localize(
    const std::string& /*directory*/) const {
  return nullptr;
}

absl::StatusOr<bool> FileSystem::Exists(const std::string& path) const {
  absl::StatusOr<FileStat> stat = Stat(path);
  if (stat.ok()) return true;
  if (absl::IsNotFound(stat.status())) return false;
  return stat.status();
}

std::string JoinPath(absl::string_view directory, absl::string_view name) {
  return absl::StrCat(absl::StripSuffix(directory, "/"), "/", absl::StripPrefix(name, "/"));
}

std::optional<std::string> PathInside(absl::string_view path) {
  path.remove_prefix(std::min(path.size(), path.find_first_not_of('/')));
  const auto normal = std::filesystem::path(std::string(path)).lexically_normal();
  if (!normal.has_filename() || *normal.begin() == ".." || *normal.begin() == ".") {
    return std::nullopt;
  }
  return normal.string();
}

}  // namespace nereid
