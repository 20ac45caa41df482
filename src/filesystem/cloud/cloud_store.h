// SPDX-License-Identifier: Apache-2.0
// CloudStore: what the server asks of cloud storage. Implementations are thread-safe; every call
// blocks on the network.
#ifndef NEREID_FILESYSTEM_CLOUD_CLOUD_STORE_H_
#define NEREID_FILESYSTEM_CLOUD_CLOUD_STORE_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "plain/cloud_messages.h"

namespace nereid {

// Errors are NOT_FOUND, or UNAVAILABLE for everything that may be otherwise next time.
class CloudStore {
 public:
  virtual ~CloudStore() = default;

  // Everything below the repository, folders with a slash at their ends. No tags.
  virtual absl::StatusOr<std::vector<CloudObject>> List(const std::string& repository) = 0;
  // The object at `path` as it is now, with its tag.
  virtual absl::StatusOr<CloudObject> Stat(const std::string& repository,
                                           const std::string& path) = 0;
  // Writes the content that `object` names to the file `target`. After an error the file may hold
  // anything.
  virtual absl::Status Fetch(const std::string& repository, const CloudObject& object,
                             const std::string& target) = 0;
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_CLOUD_CLOUD_STORE_H_
