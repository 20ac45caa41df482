// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cloud/model_archive.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr char kConfig[] = "config.pbtxt";
// Members of an ensemble; a folder with more is no archive of a model.
constexpr size_t kMostFolders = 1000;
constexpr size_t kMostConfigBytes = 1 << 20;

absl::Status BadArchive(const std::string& url, const char* why) {
  return absl::InvalidArgumentError(absl::StrCat("failed to load '", url, "': ", why));
}

// Links are followed first, so that none leads there.
bool IsOfTheKernel(const std::string& path) {
  for (const char* folder : {"/dev", "/proc", "/sys"}) {
    if (path == folder || absl::StartsWith(path, absl::StrCat(folder, "/"))) return true;
  }
  return false;
}

bool IsEnsemble(const fs::path& model) {
  std::ifstream file(model / kConfig, std::ios::binary);
  std::string text(kMostConfigBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](unsigned char c) { return absl::ascii_isspace(c); }),
             text.end());
  return absl::StrContains(text, "platform:\"ensemble\"") ||
         absl::StrContains(text, "platform:'ensemble'");
}

absl::StatusOr<std::vector<fs::path>> FoldersOf(const fs::path& path, const std::string& url) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;  // then it is no folder
    if (!it->is_directory(unknown)) continue;
    if (folders.size() == kMostFolders) return BadArchive(url, "it has too many folders");
    folders.push_back(it->path());
  }
  if (error) return BadArchive(url, "it cannot be read");
  return folders;
}

}  // namespace

absl::StatusOr<ArchiveModel> FindArchiveModel(const std::string& url) {
  if (!fs::path(url).is_absolute()) return BadArchive(url, "it is no absolute path");
  std::error_code error;
  const fs::path path = fs::canonical(url, error);
  if (error || !fs::is_directory(path, error)) return BadArchive(url, "it is no folder");
  if (IsOfTheKernel(path.string())) {
    return BadArchive(url, "the path must not begin with /dev/, /proc/ or /sys/");
  }
  if (fs::exists(path / kConfig, error)) {
    return ArchiveModel{path.parent_path().string(), path.filename().string()};
  }
  absl::StatusOr<std::vector<fs::path>> folders = FoldersOf(path, url);
  if (!folders.ok()) return folders.status();
  if (folders->empty()) return BadArchive(url, "it holds no model");
  if (folders->size() > 1) {
    folders->erase(std::remove_if(folders->begin(), folders->end(),
                                  [](const fs::path& model) { return !IsEnsemble(model); }),
                   folders->end());
    if (folders->size() != 1)
      return BadArchive(url, "it holds several models, but not one ensemble");
  }
  return ArchiveModel{path.string(), folders->front().filename().string()};
}

}  // namespace nereid
