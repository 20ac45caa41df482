#include "repository/temp_directory.h"

#include <absl/strings/str_cat.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/log.h"

namespace nereid {

absl::StatusOr<std::unique_ptr<TempDirectory>> TempDirectory::Make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return absl::InternalError(
        absl::StrCat("there is no directory for temporary files: ", error.message()));
  }
  std::string path = (parent / "nereid_model_XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return absl::InternalError(
        absl::StrCat("failed to make a directory ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<TempDirectory>(new TempDirectory(std::move(path)));
}

TempDirectory::~TempDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) LOG_WARNING << "failed to remove " << path_ << ": " << error.message();
}

}  // namespace nereid
