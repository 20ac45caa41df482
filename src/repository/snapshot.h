// SPDX-License-Identifier: Apache-2.0
// The content of the model repositories at one moment, and what has changed between two moments.
// Plain values and pure functions, except the two that scan, which block on file I/O.
#ifndef NEREID_REPOSITORY_SNAPSHOT_H_
#define NEREID_REPOSITORY_SNAPSHOT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/export.h"
#include "filesystem/file_system.h"
#include "model/model_id.h"

namespace nereid {

// A model's folder may lead anywhere by links, also back to itself, and a file that is served alone
// lies in any folder. What is beyond this many files is not looked at, and may change unnoticed.
inline constexpr size_t kMostModelFiles = 50'000;

// The files of one model, by path relative to its directory. The directory itself is included under
// "", with its time. For deeper directories only the names count: what a backend writes beside its
// code (__pycache__, which is left out) must not look like a changed model.
// Not more than kMostModelFiles are known, those of outer folders first.
struct ModelFiles {
  std::string directory;
  std::map<std::string, FileStat> files;

  friend bool operator==(const ModelFiles&, const ModelFiles&) = default;
};

// Directories of a repository, and names for the models in them. A directory may have several.
using GivenNames = std::vector<std::pair<std::string, std::string>>;

// The repositories that the server was given.
struct RepositoryLayout {
  std::set<std::string> repositories;
  bool namespacing = false;
  // Names given to directories: [repository][name] = directory. Such a name means that directory,
  // even if another one is called so; and a directory with such names is not called by its own.
  std::map<std::string, std::map<std::string, std::string>> names;
  // Repositories that are the folder of one model (single_model.h): [repository] = its name.
  std::map<std::string, std::string> single_models;
};

struct RepositorySnapshot {
  std::map<ModelId, ModelFiles> models;
  // Names that occur in more than one repository while namespacing is off; no such model can be
  // served.
  std::set<std::string> ambiguous;
};

// Reason of a model that is in `ambiguous`.
inline constexpr char kAmbiguousReason[] = "model appears in two or more repositories";

// Whether the model called `name` in `directory` is called so by the layout, whatever the directory
// and its configuration say. Pure.
NEREID_API bool IsRenamed(const RepositoryLayout& layout, const std::string& name,
                          const std::string& directory);

// Directories of models, by model id. An id with more than one directory is ambiguous.
using ModelDirectories = std::map<ModelId, std::vector<std::string>>;

// The directories of the models called `name`. A repository that cannot be read contributes none.
NEREID_API ModelDirectories FindModelDirectories(const FileSystem& fs,
                                                 const RepositoryLayout& layout,
                                                 const std::string& name);
// The directories of all models. Error of the file system if a repository cannot be read: its
// content is then unknown, which is not the same as empty.
NEREID_API absl::StatusOr<ModelDirectories> ListModelDirectories(const FileSystem& fs,
                                                                 const RepositoryLayout& layout);

// Lists the files of one model. A file that disappears during the scan counts as absent. Error of
// the file system if `directory` cannot be read.
NEREID_API absl::StatusOr<ModelFiles> ScanModel(const FileSystem& fs, const std::string& directory);
// Scans every model of every repository.
NEREID_API absl::StatusOr<RepositorySnapshot> ScanRepositories(const FileSystem& fs,
                                                               const RepositoryLayout& layout);

// Models whose files differ between the two snapshots, or that only one of them has. Pure.
NEREID_API std::set<ModelId> ChangedModels(const RepositorySnapshot& before,
                                           const RepositorySnapshot& after);

// `later` for every model that is the same in both scans, `known` for models that are still being
// written: a model that is being copied is picked up only when its files no longer change. Pure.
NEREID_API RepositorySnapshot Settle(const RepositorySnapshot& known,
                                     const RepositorySnapshot& earlier,
                                     const RepositorySnapshot& later);

// Whether a version loaded from `before` would be the same if loaded from `after`, because only
// configurations and other versions differ. Pure.
NEREID_API bool SameVersionFiles(const ModelFiles& before, const ModelFiles& after,
                                 int64_t version);

}  // namespace nereid

#endif  // NEREID_REPOSITORY_SNAPSHOT_H_
