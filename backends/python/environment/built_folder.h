// Folders of a cache that are made once: by the first who wants one, while others wait, also those
// in other processes. A folder counts when it is complete; what was left half made, by whatever
// end, is removed by the next one who comes. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_BUILT_FOLDER_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_BUILT_FOLDER_H_

#include <functional>
#include <string>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

struct FolderRequest {
  std::string cache;  // made, for this user alone, if it is not there
  std::string key;    // plain file name
  std::string what;   // for the log: "the requirements of model 'm'"
  // Fills the folder, which is there and empty. It is made where it stays, because environments
  // hold their own path.
  std::function<Error(const std::string& folder)> make;
};

// The folder's path. The error of `make`, or INTERNAL when the file system refuses; UNAVAILABLE for
// a cache that others may write to.
Result<std::string> GetBuiltFolder(const FolderRequest& request);

// A file name that stands for `texts`: no two lists of texts that anybody comes across share one.
std::string KeyOfTexts(const std::vector<std::string>& texts);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_BUILT_FOLDER_H_
