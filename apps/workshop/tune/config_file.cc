// SPDX-License-Identifier: Apache-2.0
#include "tune/config_file.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <filesystem>

#include "base/status_macros.h"
#include "bench/measuring_process.h"
#include "bench/tensor_file.h"
#include "config/edit_text.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr char kConfig[] = "config.pbtxt";
constexpr char kBefore[] = "config.pbtxt.before-tune";
constexpr char kNew[] = "config.pbtxt.new";
constexpr size_t kMostBytes = 16 << 20;

}  // namespace

absl::StatusOr<std::string> ReadConfigFile(const std::string& folder, bool to_write) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat("there is no folder '", folder, "'"));
  }
  // New names are made in the folder; the file itself is only renamed.
  if (to_write && access(folder.c_str(), W_OK | X_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("--apply: nothing may be written in the folder '", folder, "'"));
  }
  const std::string file = absl::StrCat(folder, "/", kConfig);
  if (!fs::exists(file, error)) return std::string();
  const absl::StatusOr<std::string> text = bench::ReadWholeFile(file, kMostBytes);
  if (text.ok()) return *text;
  return absl::PermissionDeniedError(absl::StrCat("'", file, "' cannot be read"));
}

absl::StatusOr<std::vector<ConfigText>> WithConfiguration(const std::vector<ConfigText>& today,
                                                          const std::vector<CompiledModel>& models,
                                                          const Configuration& configuration) {
  std::vector<ConfigText> changed = today;
  for (size_t i = 0; i < today.size(); ++i) {
    ASSIGN_OR_RETURN(changed[i].text, EditConfigText(today[i].path(), today[i].text,
                                                     ChangesOf(models[i], configuration[i])));
  }
  return changed;
}

absl::Status ReplaceConfigFile(const std::string& folder, const std::string& text) {
  const fs::path path(folder);
  std::error_code error;
  RETURN_IF_ERROR(bench::WriteReport((path / kNew).string(), text));
  if (fs::exists(path / kConfig, error)) {
    fs::permissions(path / kNew, fs::status(path / kConfig, error).permissions(), error);
    fs::copy_file(path / kConfig, path / kBefore, fs::copy_options::overwrite_existing, error);
  } else {
    fs::remove(path / kBefore, error);
  }
  if (!error) fs::rename(path / kNew, path / kConfig, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot replace '", (path / kConfig).string(), "': ", error.message()));
}

}  // namespace nereid
