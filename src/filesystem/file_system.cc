#include "filesystem/file_system.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

namespace nereid {

absl::StatusOr<bool> FileSystem::Exists(const std::string& path) const {
  absl::StatusOr<FileStat> stat = Stat(path);
  if (stat.ok()) return true;
  if (absl::IsNotFound(stat.status())) return false;
  return stat.status();
}

std::string JoinPath(absl::string_view directory, absl::string_view name) {
  return absl::StrCat(absl::StripSuffix(directory, "/"), "/", absl::StripPrefix(name, "/"));
}

}  // namespace nereid
