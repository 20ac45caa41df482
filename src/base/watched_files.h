// SPDX-License-Identifier: Apache-2.0
// WatchedFiles: tells whether files may have a new content, without reading them. Thread-safe.
#ifndef NEREID_BASE_WATCHED_FILES_H_
#define NEREID_BASE_WATCHED_FILES_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class WatchedFiles {
 public:
  // How long a change may stay unnoticed.
  static constexpr Duration kLookEvery = std::chrono::seconds(1);

  // Looks at the files, so that contents read from now on count as known. An empty path is no file.
  // REQUIRES: `clock` lives as long as this.
  WatchedFiles(std::vector<std::string> paths, Clock* clock)
      : paths_(std::move(paths)),
        clock_(clock),
        seen_(Look()),
        next_look_(clock->Now() + kLookEvery) {}

  // Whether a file has changed since the last look that found a change. Looks at most once every
  // kLookEvery, and tells only one of several threads, which then reads the files. May block for as
  // long as the file system takes, but holds no lock meanwhile.
  bool Changed() ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(&mu_);
      const TimePoint now = clock_->Now();
      if (now < next_look_) return false;
      next_look_ = now + kLookEvery;
    }
    // Taken before the files are read: a change after that is seen by the next look.
    std::vector<Stamp> stamps = Look();
    MutexLock lock(&mu_);
    if (stamps == seen_) return false;
    seen_ = std::move(stamps);
    return true;
  }

 private:
  // What distinguishes one content of a file from another. All zero if there is no file.
  struct Stamp {
    uint64_t device = 0, inode = 0;
    int64_t size = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };

  // Follows links, since what Kubernetes replaces is a link on the way to the file.
  static Stamp Of(const std::string& path) {
    struct stat found;
    if (path.empty() || stat(path.c_str(), &found) != 0) return {};
    return {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
  }
  std::vector<Stamp> Look() const {
    std::vector<Stamp> stamps;
    for (const std::string& path : paths_) stamps.push_back(Of(path));
    return stamps;
  }

  const std::vector<std::string> paths_;
  Clock* const clock_;

  Mutex mu_;
  std::vector<Stamp> seen_ ABSL_GUARDED_BY(mu_);
  TimePoint next_look_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BASE_WATCHED_FILES_H_
