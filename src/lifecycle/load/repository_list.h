// SPDX-License-Identifier: Apache-2.0
// RepositoryList: the model repositories and the names of their models.
// Thread-safe. Readers take no lock. Blocks on file I/O.
#ifndef NEREID_LIFECYCLE_LOAD_REPOSITORY_LIST_H_
#define NEREID_LIFECYCLE_LOAD_REPOSITORY_LIST_H_

#include <absl/status/status.h>

#include <map>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/read_mostly.h"
#include "filesystem/file_system.h"
#include "model/model_id.h"
#include "repository/snapshot.h"

namespace nereid {

class RepositoryList {
 public:
  // `file_system` outlives this. A path may lead to the folder of one model, which is then called
  // `single_model_name`, if that is not empty.
  RepositoryList(const FileSystem* file_system, std::set<std::string> paths, bool namespacing,
                 const std::string& single_model_name = "");

  RepositoryLayout Layout() const { return *layout_.Get(); }
  // INVALID_ARGUMENT unless there is a repository, and every one is a readable directory.
  absl::Status Check() const;
  // Models in the repositories, loaded or not. A repository that cannot be read has none.
  std::set<ModelId> Models() const;
  // Adds a repository. INVALID_ARGUMENT, ALREADY_EXISTS.
  absl::Status Register(const std::string& path, const GivenNames& names) ABSL_LOCKS_EXCLUDED(mu_);
  // INVALID_ARGUMENT.
  absl::Status Unregister(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const FileSystem* const file_system_;
  Mutex mu_;                             // held while a change is made
  ReadMostly<RepositoryLayout> layout_;  // replaced under mu_
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_REPOSITORY_LIST_H_
