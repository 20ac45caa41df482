// SPDX-License-Identifier: Apache-2.0
#include "repository/snapshot.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr int kMaxDepth = 16;  // limited, because a link may lead to a parent folder
constexpr absl::string_view kIgnored = "__pycache__";

// Takes in what `top` holds, outer folders first: so a model's own files are among them, however
// many there are further inside.
void AddFiles(const FileSystem& fs, const std::string& top, ModelFiles* files) {
  struct Folder {
    std::string path;
    std::string prefix;
    int depth;
  };
  std::deque<Folder> left = {{top, "", 0}};
  for (; !left.empty(); left.pop_front()) {
    const Folder& folder = left.front();
    const auto entries = fs.ListDirectory(folder.path);
    if (!entries.ok()) continue;
    for (const DirEntry& entry : *entries) {
      if (files->files.size() >= kMostModelFiles) return;
      if (entry.name == kIgnored) continue;
      std::string path = JoinPath(folder.path, entry.name);
      const std::string name = absl::StrCat(folder.prefix, entry.name);
      if (entry.is_directory) {
        files->files[name] = FileStat{.is_directory = true, .size = 0, .mtime_ns = 0};
        if (folder.depth < kMaxDepth) {
          left.push_back({std::move(path), absl::StrCat(name, "/"), folder.depth + 1});
        }
      } else if (const auto stat = fs.Stat(path); stat.ok()) {
        files->files[name] = *stat;
      }
    }
  }
}

// Hidden folders, and the one that every new volume with the file system ext4 has.
bool IsNoModel(const std::string& name) {
  return absl::StartsWith(name, ".") || name == "lost+found";
}

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// The files that concern version `version`: all but the configuration and other versions' folders.
std::map<std::string, FileStat> FilesOfVersion(const ModelFiles& model, int64_t version) {
  const std::string own = absl::StrCat(version);
  std::map<std::string, FileStat> files;
  for (const auto& [path, stat] : model.files) {
    const absl::string_view top = absl::string_view(path).substr(0, path.find('/'));
    if (path.empty() || path == "config.pbtxt" || top == "configs") continue;
    if (IsNumber(top) && top != own) continue;
    files.emplace(path, stat);
  }
  return files;
}

// The directory of `repository` that was given `name`; empty if none was.
std::string GivenTo(const RepositoryLayout& layout, const std::string& repository,
                    const std::string& name) {
  const auto names = layout.names.find(repository);
  if (names == layout.names.end()) return "";
  const auto given = names->second.find(name);
  return given == names->second.end() ? "" : given->second;
}

// Whether `name` was given to a directory, so that no other one is called so.
bool IsGiven(const RepositoryLayout& layout, const std::string& repository,
             const std::string& name) {
  if (layout.namespacing) return !GivenTo(layout, repository, name).empty();
  return std::any_of(layout.names.begin(), layout.names.end(),
                     [&](const auto& names) { return names.second.count(name) > 0; });
}

// The names of the model in `directory` of `repository`.
std::set<std::string> NamesOf(const RepositoryLayout& layout, const std::string& repository,
                              const std::string& directory) {
  std::set<std::string> names;
  if (const auto given = layout.names.find(repository); given != layout.names.end()) {
    for (const auto& [name, folder] : given->second) {
      if (folder == directory) names.insert(name);
    }
  }
  if (names.empty() && !IsGiven(layout, repository, directory)) names.insert(directory);
  return names;
}

ModelId IdOf(const RepositoryLayout& layout, const std::string& repository,
             const std::string& name) {
  return {layout.namespacing ? repository : "", name};
}

// The directory in which the model called `name` is, if `repository` has it; empty if it has none.
std::string PlaceOf(const RepositoryLayout& layout, const std::string& repository,
                    const std::string& name) {
  const auto single = layout.single_models.find(repository);
  if (single != layout.single_models.end()) return single->second == name ? repository : "";
  if (const std::string folder = GivenTo(layout, repository, name); !folder.empty()) {
    return JoinPath(repository, folder);
  }
  return NamesOf(layout, repository, name).count(name) > 0 ? JoinPath(repository, name) : "";
}

}  // namespace

bool IsRenamed(const RepositoryLayout& layout, const std::string& name,
               const std::string& directory) {
  const auto single = layout.single_models.find(directory);
  if (single != layout.single_models.end() && single->second == name) return true;
  return std::any_of(layout.names.begin(), layout.names.end(), [&](const auto& names) {
    const auto given = names.second.find(name);
    return given != names.second.end() && JoinPath(names.first, given->second) == directory;
  });
}

ModelDirectories FindModelDirectories(const FileSystem& fs, const RepositoryLayout& layout,
                                      const std::string& name) {
  ModelDirectories found;
  for (const std::string& repository : layout.repositories) {
    const std::string path = PlaceOf(layout, repository, name);
    if (path.empty()) continue;
    const auto stat = fs.Stat(path);
    if (!stat.ok() || !stat->is_directory) continue;
    found[IdOf(layout, repository, name)].push_back(path);
  }
  return found;
}

absl::StatusOr<ModelDirectories> ListModelDirectories(const FileSystem& fs,
                                                      const RepositoryLayout& layout) {
  ModelDirectories found;
  for (const std::string& repository : layout.repositories) {
    ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.ListDirectory(repository));
    const auto single = layout.single_models.find(repository);
    if (single != layout.single_models.end()) {
      found[IdOf(layout, repository, single->second)].push_back(repository);
      continue;
    }
    for (const DirEntry& entry : entries) {
      if (!entry.is_directory || IsNoModel(entry.name)) continue;
      for (const std::string& name : NamesOf(layout, repository, entry.name)) {
        found[IdOf(layout, repository, name)].push_back(JoinPath(repository, entry.name));
      }
    }
  }
  return found;
}

absl::StatusOr<ModelFiles> ScanModel(const FileSystem& fs, const std::string& directory) {
  ASSIGN_OR_RETURN(const FileStat stat, fs.Stat(directory));
  ModelFiles files;
  files.directory = directory;
  files.files[""] = stat;
  AddFiles(fs, directory, &files);
  return files;
}

absl::StatusOr<RepositorySnapshot> ScanRepositories(const FileSystem& fs,
                                                    const RepositoryLayout& layout) {
  RepositorySnapshot snapshot;
  for (const std::string& repository : layout.repositories) {
    RETURN_IF_ERROR(fs.Refresh(repository));
  }
  ASSIGN_OR_RETURN(const ModelDirectories directories, ListModelDirectories(fs, layout));
  for (const auto& [id, paths] : directories) {
    if (paths.size() > 1) {
      snapshot.ambiguous.insert(id.name);
      continue;
    }
    // A directory removed since it was listed counts as absent.
    absl::StatusOr<ModelFiles> files = ScanModel(fs, paths[0]);
    if (files.ok()) snapshot.models.emplace(id, *std::move(files));
  }
  return snapshot;
}

std::set<ModelId> ChangedModels(const RepositorySnapshot& before, const RepositorySnapshot& after) {
  std::set<ModelId> changed;
  for (const auto& [id, files] : after.models) {
    const auto old = before.models.find(id);
    if (old == before.models.end() || !(old->second == files)) changed.insert(id);
  }
  for (const auto& [id, files] : before.models) {
    if (after.models.count(id) == 0) changed.insert(id);
  }
  return changed;
}

RepositorySnapshot Settle(const RepositorySnapshot& known, const RepositorySnapshot& earlier,
                          const RepositorySnapshot& later) {
  RepositorySnapshot settled = later;
  for (const ModelId& id : ChangedModels(earlier, later)) {
    settled.models.erase(id);
    const auto old = known.models.find(id);
    if (old != known.models.end() && later.ambiguous.count(id.name) == 0) {
      settled.models.insert(*old);
    }
  }
  return settled;
}

bool SameVersionFiles(const ModelFiles& before, const ModelFiles& after, int64_t version) {
  return before.directory == after.directory &&
         FilesOfVersion(before, version) == FilesOfVersion(after, version);
}

}  // namespace nereid
