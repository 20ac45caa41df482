// SPDX-License-Identifier: Apache-2.0
// Folders of a cache that are built once: the first user builds the folder while others wait,
// including users in other processes. A folder counts once it is complete; the next user removes
// one that was left incomplete for whatever reason. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_BUILT_FOLDER_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_BUILT_FOLDER_H_

#include <functional>
#include <string>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

struct FolderRequest {
  std::string cache;  // created, accessible only to this user, if missing
  std::string key;    // plain file name
  std::string what;   // for the log: "the requirements of model 'm'"
  // Fills the folder, which exists and is empty. It is built in its final place, because
  // environments contain their own path.
  std::function<Error(const std::string& folder)> make;
};

// The folder's path. Errors: that of `make`, INTERNAL if the file system refuses, UNAVAILABLE for a
// cache that other users may write to.
Result<std::string> GetBuiltFolder(const FolderRequest& request);

// A file name that identifies `texts`: in practice no two lists of texts share one.
std::string KeyOfTexts(const std::vector<std::string>& texts);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_BUILT_FOLDER_H_
