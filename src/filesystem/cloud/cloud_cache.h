// SPDX-License-Identifier: Apache-2.0
// CloudCache: contents of objects in cloud storage, kept as files of this machine and found by what
// they are: URL, tag and size. Models get hard links to them, so a content that serves stays
// whatever happens here, and is never removed to make room. Thread-safe. Blocks on I/O.
//
// On disk: objects/HASH, each a whole content, put there by a rename; beside it the folders of
// models (TempDirectory), which the next start removes if this process is killed.
#ifndef NEREID_FILESYSTEM_CLOUD_CLOUD_CACHE_H_
#define NEREID_FILESYSTEM_CLOUD_CLOUD_CACHE_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/export.h"
#include "base/mutex.h"
#include "filesystem/cloud/cloud_store.h"
#include "filesystem/temp_directory.h"

namespace nereid {

// Calls `job` with 0 ... count - 1, several at a time, and returns the first error.
absl::Status InParallel(size_t count, absl::FunctionRef<absl::Status(size_t)> job);

class NEREID_API CloudCache {
 public:
  struct Options {
    std::string directory;  // empty: one of this process, removed at its end, in `parent`
    std::string parent;     // empty: the folder for temporary files
    uint64_t most_bytes = 0;
  };

  // `store` and `clock` outlive this.
  CloudCache(Options options, CloudStore* store, Clock* clock)
      : options_(std::move(options)), store_(*store), clock_(*clock) {}

  // Gets what is missing of the objects, which have tags.
  absl::Status Ensure(const std::string& repository, const std::vector<CloudObject>& objects)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the new file `target`, in a folder that MakeFolder made, a link to the content.
  absl::Status Link(const std::string& repository, const CloudObject& object,
                    const std::string& target) ABSL_LOCKS_EXCLUDED(mu_);
  // A folder for a model on the disk where the contents are.
  absl::StatusOr<std::unique_ptr<TempDirectory>> MakeFolder() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Makes the directories, once.
  absl::Status Open() ABSL_LOCKS_EXCLUDED(mu_);
  std::string PathOf(const std::string& repository, const CloudObject& object) const;
  // Gets a content, and links it to `target` as well unless that is empty.
  absl::Status Download(const std::string& repository, const CloudObject& object,
                        const std::string& target);
  // Removes contents, those first that were not used for the longest time, until `bytes` fit in.
  void MakeRoom(uint64_t bytes);

  const Options options_;
  CloudStore& store_;
  Clock& clock_;
  std::atomic<uint64_t> downloads_{0};
  Mutex mu_;  // held while the directories are made
  std::unique_ptr<TempDirectory> own_ ABSL_GUARDED_BY(mu_);
  // Set once, under mu_, before is_open_; then constant.
  std::atomic<bool> is_open_{false};
  std::string directory_;
  std::unique_ptr<TempDirectory> partial_;  // for what is not whole yet
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_CLOUD_CLOUD_CACHE_H_
