// SPDX-License-Identifier: Apache-2.0
#include "plugin/plugin_library.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <new>
#include <system_error>

#include "base/caught.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "filesystem/temp_directory.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<SharedLibrary>> OpenPrivateCopy(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<TempDirectory> folder,
                   TempDirectory::Make(TempDirectory::kBackendCopy));
  const fs::path copy = fs::path(folder->path()) / fs::path(path).filename();
  std::error_code error;
  fs::copy_file(path, copy, error);
  if (error) {
    return absl::InternalError(absl::StrCat("cannot copy library '", path, "': ", error.message()));
  }
  return SharedLibrary::Open(copy.string());
}

}  // namespace

absl::Status plugin_internal::Threw(const char* kind, const std::string& name,
                                    const std::string& model, const char* function,
                                    const char* text) noexcept try {
  return absl::InternalError(absl::StrCat(
      kind, " '", name, "' threw an ", text == nullptr ? "unknown " : "", "exception in ", function,
      model.empty() ? "" : absl::StrCat(" of model '", model, "'"), text == nullptr ? "" : ": ",
      text == nullptr ? "" : text));
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

absl::StatusOr<std::unique_ptr<PluginLibrary>> PluginLibrary::Load(const char* kind,
                                                                   std::string name,
                                                                   const std::string& path,
                                                                   Open how) {
  absl::StatusOr<std::unique_ptr<SharedLibrary>> library =
      how == Open::kPrivateCopy ? OpenPrivateCopy(path) : SharedLibrary::Open(path);
  if (!library.ok()) {
    return absl::Status(library.status().code(),
                        absl::StrCat(kind, " '", name, "': ", library.status().message()));
  }
  return std::unique_ptr<PluginLibrary>(
      new PluginLibrary(kind, std::move(name), *std::move(library)));
}

std::optional<std::string> PluginLibrary::Find(const std::string& directory,
                                               const std::string& name, const std::string& file) {
  if (name.empty() || absl::StrContains(name, '/') || name == "." || name == "..") {
    return std::nullopt;
  }
  const fs::path path = fs::path(directory) / name / file;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  return path.string();
}

absl::Status PluginLibrary::Lacks(const char* symbol) const {
  return absl::InvalidArgumentError(absl::StrCat(kind_, " '", name_, "': library ", path(),
                                                 " does not export ", symbol, "; is it a ", kind_,
                                                 "?"));
}

void PluginLibrary::LogFailedEnd(const absl::Status& status) const noexcept {
  if (!status.ok()) {
    LOG_ERROR << "failed finalizing " << kind_ << " '" << name_ << "': " << status.message();
  }
}

}  // namespace nereid
