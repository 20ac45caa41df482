// What lies in the model repositories at one moment, and what has changed since another. Plain
// values and pure functions, but for the two that scan: those block on file I/O.
#ifndef NEREID_REPOSITORY_SNAPSHOT_H_
#define NEREID_REPOSITORY_SNAPSHOT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/export.h"
#include "filesystem/file_system.h"
#include "model/model_id.h"

namespace nereid {

// The files of one model, by path relative to its directory. The directory itself is in there
// under "", with its time; of directories further down only the names count: what a backend writes
// beside its code (__pycache__, which is left out) must not look like another model.
struct ModelFiles {
  std::string directory;
  std::map<std::string, FileStat> files;

  friend bool operator==(const ModelFiles&, const ModelFiles&) = default;
};

// The repositories, as the server was told about them.
struct RepositoryLayout {
  std::set<std::string> repositories;
  bool namespacing = false;
  // Models that are called otherwise than their directory: [repository][directory] = name.
  std::map<std::string, std::map<std::string, std::string>> names;
};

struct RepositorySnapshot {
  std::map<ModelId, ModelFiles> models;
  // Names that more than one repository has, without namespacing: none of them can be served.
  std::set<std::string> ambiguous;
};

// Reason of a model that is in `ambiguous`.
inline constexpr char kAmbiguousReason[] = "model appears in two or more repositories";

// Directories of models, by what they are called. More than one directory of the same id: the name
// is ambiguous.
using ModelDirectories = std::map<ModelId, std::vector<std::string>>;

// Those of the models called `name`. A repository that cannot be read has none.
NEREID_API ModelDirectories FindModelDirectories(const FileSystem& fs,
                                                 const RepositoryLayout& layout,
                                                 const std::string& name);
// Those of all models. Error of the file system where a repository cannot be read: what it holds is
// then not known, which is not the same as nothing.
NEREID_API absl::StatusOr<ModelDirectories> ListModelDirectories(const FileSystem& fs,
                                                                 const RepositoryLayout& layout);

// A file that goes while it is looked at is not there. Error of the file system where `directory`
// cannot be read.
NEREID_API absl::StatusOr<ModelFiles> ScanModel(const FileSystem& fs, const std::string& directory);
// Every model of every repository.
NEREID_API absl::StatusOr<RepositorySnapshot> ScanRepositories(const FileSystem& fs,
                                                               const RepositoryLayout& layout);

// Models whose files differ between the two, or that only one of them has. Pure.
NEREID_API std::set<ModelId> ChangedModels(const RepositorySnapshot& before,
                                           const RepositorySnapshot& after);

// `later` for every model that is the same in both scans, `known` for those that are being written:
// a model that is being copied is taken up when it has come to rest. Pure.
NEREID_API RepositorySnapshot Settle(const RepositorySnapshot& known,
                                     const RepositorySnapshot& earlier,
                                     const RepositorySnapshot& later);

// Whether a version that was loaded from `before` would be the same if loaded from `after`: nothing
// differs but configurations and other versions. Pure.
NEREID_API bool SameVersionFiles(const ModelFiles& before, const ModelFiles& after,
                                 int64_t version);

}  // namespace nereid

#endif  // NEREID_REPOSITORY_SNAPSHOT_H_
