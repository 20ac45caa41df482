// SPDX-License-Identifier: Apache-2.0
// What `nereid MODEL.onnx` and `nereid DIR` serve: a model's file, the folder of one model, or a
// repository of such folders, told apart by what they hold. Blocks on file I/O.
#ifndef NEREID_APPS_NEREID_WHAT_TO_SERVE_H_
#define NEREID_APPS_NEREID_WHAT_TO_SERVE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "filesystem/file_system.h"
#include "filesystem/temp_directory.h"

namespace nereid {

// Finds the repositories for words of a command line. A file has none, so it gets one: a temporary
// folder with a link to the file's folder and a configuration that names the file. It lives as long
// as the object. Thread-compatible.
class WhatToServe {
 public:
  // `files` outlives the object.
  explicit WhatToServe(const FileSystem* files) : files_(*files) {}

  // The repository that holds what `word` names. `loads_all`: all models are loaded at the start,
  // so that a repository without any is a mistake. NOT_FOUND if there is no such file or folder;
  // INVALID_ARGUMENT says what is there instead, and what would be right.
  absl::StatusOr<std::string> RepositoryOf(const std::string& word, bool loads_all);

  // Sentences for the log: what is served of the files, and under which names.
  const std::vector<std::string>& sentences() const { return sentences_; }

  // Removes what was made. The server has ended.
  void Clear() { made_.clear(); }

 private:
  absl::StatusOr<std::string> RepositoryOfFile(const std::string& path);

  const FileSystem& files_;
  std::vector<std::unique_ptr<TempDirectory>> made_;
  std::vector<std::string> sentences_;
};

// Why the folder `directory` is no repository that serves anything, as one sentence that says what
// would be right; empty if it may be one, or cannot be read.
std::string WhyNothingToServe(const FileSystem& files, const std::string& directory);

// The name of the first model's folder in `directory`, if that is a repository and no model's
// folder itself; otherwise empty.
std::string FirstModelIn(const FileSystem& files, const std::string& directory);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_WHAT_TO_SERVE_H_
