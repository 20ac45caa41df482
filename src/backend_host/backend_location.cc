// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_location.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "config/nearest_name.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr char kPythonBackend[] = "python";

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// True if `library` is a plain file name, so that it cannot lead out of the folders searched.
bool StaysInside(const std::string& library) {
  return library.find('/') == std::string::npos && library != ".." && library != ".";
}

// For our own backends, which an installation need not include.
std::string HowToGet(const std::string& backend) {
  if (backend == "generative") return HowToGet("openvino");  // made with it
  static constexpr std::array<std::string_view, 3> kOptional = {"openvino", "pytorch",
                                                                "tensorflow"};
  if (std::find(kOptional.begin(), kOptional.end(), backend) == kOptional.end()) return "";
  return absl::StrCat("(`make stage BACKENDS=", backend, "` installs it)");
}

std::string LibraryOf(const std::string& backend) {
  return absl::StrCat("libtriton_", backend, ".so");
}

// One search for one model's backend.
class Search {
 public:
  Search(const std::string& backend_directory, const ParsedConfig& config,
         const std::string& model_dir, int64_t version)
      : config_(config),
        own_folder_(fs::path(backend_directory) / config.backend()),
        python_folder_(fs::path(backend_directory) / kPythonBackend),
        folders_{fs::path(model_dir) / absl::StrCat(version), model_dir, own_folder_} {}

  absl::StatusOr<BackendLocation> Run() {
    const std::string& name = config_.backend();
    const bool by_name = config_.runtime().empty();
    const std::string library = by_name ? LibraryOf(name) : config_.runtime();
    if (!StaysInside(library) || !StaysInside(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "backend library name '", library, "' escapes backend directory '", own_folder_.string(),
          "', for model '", config_.name(), "', check model config runtime field"));
    }
    if (library == kPythonRuntime) return FindPythonBased();
    BackendLocation location;
    if (Find(library, &location)) return location;
    if (!by_name) return LibraryMissing(library);
    if (IsFile(own_folder_ / kPythonRuntime)) return FindPythonBased();
    return absl::InvalidArgumentError(
        absl::StrCat("unable to find backend library for backend '", name,
                     "', try specifying runtime on the model configuration. Searched: ", Searched(),
                     HowToGet(name)));
  }

 private:
  // The library in the first folder that has it.
  bool Find(const std::string& library, BackendLocation* location) const {
    for (size_t i = 0; i < folders_.size(); ++i) {
      const fs::path path = folders_[i] / library;
      if (!IsFile(path)) continue;
      location->library = path.string();
      location->artifact_dir = folders_[i].string();
      location->model_owned = i < kModelFolders;
      return true;
    }
    return false;
  }

  absl::StatusOr<BackendLocation> FindPythonBased() {
    const std::string library = LibraryOf(kPythonBackend);
    if (python_folder_ != own_folder_) folders_.push_back(python_folder_);
    BackendLocation location;
    if (!Find(library, &location)) return LibraryMissing(library);
    const fs::path file = own_folder_ / kPythonRuntime;
    // The backend "python" is not itself Python-based: each of its models has its own file.
    location.python_based = config_.backend() != kPythonBackend;
    if (location.python_based && !IsFile(file)) {
      return absl::InvalidArgumentError(
          absl::StrCat("unable to find Python backend based backend library '", kPythonRuntime,
                       "' for model '", config_.name(), "', searched: '", file.string(), "'"));
    }
    location.artifact_dir = own_folder_.string();
    return location;
  }

  absl::Status LibraryMissing(const std::string& library) const {
    return absl::InvalidArgumentError(absl::StrCat("unable to find backend library '", library,
                                                   "' for model '", config_.name(),
                                                   "', searched: ", Searched()));
  }

  std::string Searched() const {
    std::string text;
    for (const fs::path& folder : folders_) absl::StrAppend(&text, "'", folder.string(), "' ");
    return text;
  }

  static constexpr size_t kModelFolders = 2;  // the first entries of folders_

  const ParsedConfig& config_;
  const fs::path own_folder_;
  const fs::path python_folder_;
  std::vector<fs::path> folders_;
};

}  // namespace

std::string BackendLocation::code() const {
  return python_based ? (fs::path(artifact_dir) / kPythonRuntime).string() : library;
}

std::string CleanPath(const std::string& path) {
  std::vector<absl::string_view> parts;
  for (const absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    if (part != ".") parts.push_back(part);
  }
  const bool absolute = !path.empty() && path[0] == '/';
  if (parts.empty()) return absolute ? "/" : path.empty() ? "" : ".";
  return absl::StrCat(absolute ? "/" : "", absl::StrJoin(parts, "/"));
}

absl::StatusOr<BackendLocation> LocateBackend(const std::string& backend_directory,
                                              const ParsedConfig& config,
                                              const std::string& model_dir, int64_t version) {
  if (config.backend().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model '", config.name(), "' names no backend; set 'backend' in config.pbtxt"));
  }
  return Search(CleanPath(backend_directory), config, model_dir, version).Run();
}

std::string DescribeMissingBackend(const std::string& backend_directory, const std::string& name) {
  std::error_code ignored;
  if (fs::is_directory(fs::path(backend_directory) / name, ignored)) return "";
  std::vector<std::string> present;
  for (fs::directory_iterator entry(backend_directory, ignored), end; entry != end;
       entry.increment(ignored)) {
    if (entry->is_directory(ignored)) present.push_back(entry->path().filename().string());
  }
  std::sort(present.begin(), present.end());
  const std::string nearest = NearestName(name, present);
  return absl::StrCat("settings are given for the backend '", name, "', which is not in '",
                      backend_directory, "'",
                      nearest.empty() ? "" : absl::StrCat(" (did you mean '", nearest, "'?)"),
                      "; they count only for a model that brings a backend of this name");
}

}  // namespace nereid
