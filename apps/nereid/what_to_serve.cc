// SPDX-License-Identifier: Apache-2.0
#include "what_to_serve.h"

#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "repository/single_model.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr char kConfigFile[] = "config.pbtxt";

// How the files of models end.
struct FileKind {
  absl::string_view extension;
  absl::string_view backend;
  absl::string_view platform;  // empty: the backend's usual one
};
constexpr FileKind kFileKinds[] = {
    {".onnx", "onnxruntime", ""},
    {".xml", "openvino", ""},
    {".tflite", "openvino", ""},
    {".pt", "pytorch", ""},
    {".pt2", "pytorch", "torch_aoti"},
    {".savedmodel", "tensorflow", "tensorflow_savedmodel"},
    {".graphdef", "tensorflow", "tensorflow_graphdef"},
    {".py", "python", ""},
};
constexpr absl::string_view kKnownKinds =
    ".onnx, .xml, .tflite, .pt, .pt2, .savedmodel, .graphdef or .py";

const FileKind* KindOf(const fs::path& path) {
  const std::string extension = path.extension().string();
  for (const FileKind& kind : kFileKinds) {
    if (kind.extension == extension) return &kind;
  }
  return nullptr;
}

bool IsVersion(absl::string_view name) {
  return !name.empty() && absl::c_all_of(name, absl::ascii_isdigit);
}

// Without the "/" that people put behind the names of folders.
fs::path WithoutSlash(const std::string& path) {
  return path.size() > 1 && path.back() == '/' ? fs::path(path).parent_path() : fs::path(path);
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

std::string ConfigOf(const std::string& file, const FileKind& kind) {
  std::string config = absl::StrCat("backend: ", Quoted(kind.backend), "\n");
  if (!kind.platform.empty()) absl::StrAppend(&config, "platform: ", Quoted(kind.platform), "\n");
  return absl::StrCat(config, "default_model_filename: ", Quoted(file), "\n");
}

// A model that lies where a model's folder should lie; empty: there is none.
std::string LooseModel(const std::vector<DirEntry>& entries) {
  for (const DirEntry& entry : entries) {
    const FileKind* const kind = KindOf(entry.name);
    if (kind != nullptr && entry.is_directory == (kind->extension == ".savedmodel")) {
      return entry.name;
    }
  }
  return "";
}

// Makes `repository`/NAME/ with the configuration, and version 1 as a link to the file's folder, so
// that further files of the model beside it are found.
std::error_code MakeModel(const fs::path& folder, const fs::path& file, const FileKind& kind) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (!error) fs::create_directory_symlink(file.parent_path(), folder / "1", error);
  if (error) return error;
  std::ofstream config(folder / kConfigFile);
  config << ConfigOf(file.filename().string(), kind) << std::flush;
  return config.good() ? error : std::make_error_code(std::errc::io_error);
}

}  // namespace

std::string FirstModelIn(const FileSystem& files, const std::string& directory) {
  const auto entries = files.ListDirectory(directory);
  if (!entries.ok()) return "";
  std::string first;
  for (const DirEntry& entry : *entries) {
    // Models may have folders of any kind beside their versions.
    if (entry.name == kConfigFile || (entry.is_directory && IsVersion(entry.name))) return "";
    if (!first.empty() || !entry.is_directory) continue;
    if (IsSingleModel(files, JoinPath(directory, entry.name))) first = entry.name;
  }
  return first;
}

std::string WhyNothingToServe(const FileSystem& files, const std::string& directory) {
  const auto entries = files.ListDirectory(directory);
  if (!entries.ok() || IsSingleModel(files, directory)) return "";
  const bool has_model = absl::c_any_of(*entries, [&](const DirEntry& entry) {
    return entry.is_directory && IsSingleModel(files, JoinPath(directory, entry.name));
  });
  if (has_model) return "";
  const std::string usual = JoinPath(directory, "NAME/1/");
  const std::string loose = LooseModel(*entries);
  const fs::path path = WithoutSlash(directory);
  if (!loose.empty() && IsVersion(path.filename().string())) {
    return absl::StrCat("'", directory, "' is the folder of a version, with '", loose,
                        "'; the model's folder is '",
                        path.has_parent_path() ? path.parent_path().string() : "..", "'");
  }
  if (!loose.empty()) {
    return absl::StrCat("there is no model's folder in '", directory, "', only '", loose,
                        "', which belongs into '", usual, loose, "'; `nereid ",
                        JoinPath(directory, loose), "` serves that file alone");
  }
  return absl::StrCat(
      "there is no model in '", directory,
      "': a repository has a folder for each model, with its versions in it, as in '", usual,
      "model.onnx'");
}

absl::StatusOr<std::string> WhatToServe::RepositoryOf(const std::string& word, bool loads_all) {
  const absl::StatusOr<FileStat> stat = files_.Stat(word);
  if (absl::IsNotFound(stat.status())) {
    return absl::NotFoundError(absl::StrCat("there is no file or folder '", word, "'"));
  }
  RETURN_IF_ERROR(stat.status());
  const FileKind* const kind = KindOf(WithoutSlash(word));
  const bool saved_model = kind != nullptr && kind->extension == ".savedmodel";
  if (!stat->is_directory || saved_model) return RepositoryOfFile(word);
  const std::string why_not = loads_all ? WhyNothingToServe(files_, word) : "";
  if (!why_not.empty()) return absl::InvalidArgumentError(why_not);
  return word;
}

absl::StatusOr<std::string> WhatToServe::RepositoryOfFile(const std::string& path) {
  std::error_code error;
  const fs::path file = fs::absolute(WithoutSlash(path), error).lexically_normal();
  if (error) return absl::InternalError(absl::StrCat("'", path, "': ", error.message()));
  const FileKind* const kind = KindOf(file);
  if (kind == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the name of '", path, "' does not say what kind of model it is: it has to end in ",
        kKnownKinds, "; for another kind write a config.pbtxt and serve the model's folder"));
  }
  const std::string name = file.stem().string();
  ASSIGN_OR_RETURN(std::unique_ptr<TempDirectory> folder, TempDirectory::Make());
  error = MakeModel(fs::path(folder->path()) / name, file, *kind);
  if (error) {
    return absl::InternalError(
        absl::StrCat("no folder for the model '", name, "': ", error.message()));
  }
  sentences_.push_back(absl::StrCat("serving '", file.string(), "' as the model '", name,
                                    "' with the backend '", kind->backend, "'"));
  made_.push_back(std::move(folder));
  return made_.back()->path();
}

}  // namespace nereid
