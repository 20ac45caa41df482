// SPDX-License-Identifier: Apache-2.0
// CloudFileSystem: the files of this machine, and repositories in cloud storage, whose paths begin
// with "s3://". The first path that leads to neither of the known ones names a repository. What is
// known of one is a single list of its objects, made by the first look and by Refresh; contents
// come through the CloudCache. Thread-safe.
#ifndef NEREID_FILESYSTEM_CLOUD_CLOUD_FILE_SYSTEM_H_
#define NEREID_FILESYSTEM_CLOUD_CLOUD_FILE_SYSTEM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "filesystem/cloud/cloud_cache.h"
#include "filesystem/cloud/cloud_store.h"
#include "filesystem/file_system.h"

namespace nereid {

class NEREID_API CloudFileSystem final : public FileSystem {
 public:
  // All outlive this.
  CloudFileSystem(const FileSystem* local, CloudStore* store, CloudCache* cache);
  ~CloudFileSystem() override;

  static bool IsCloud(absl::string_view path);

  absl::StatusOr<std::string> ReadFile(const std::string& path) const override;
  absl::StatusOr<std::vector<DirEntry>> ListDirectory(const std::string& path) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
  absl::Status Refresh(const std::string& repository) const override ABSL_LOCKS_EXCLUDED(mu_);
  void Prefetch(const std::vector<std::string>& directories) const override;
  absl::StatusOr<std::unique_ptr<TempDirectory>> Localize(
      const std::string& directory) const override;

 private:
  class Listing;
  struct Repository {
    std::shared_ptr<Listing> listing;  // null: never listed
    absl::Status last;                 // of the last attempt to list
    uint64_t begun = 0;                // attempts
    uint64_t ended = 0;
    bool listing_now = false;
  };
  // A path in a repository.
  struct Place {
    std::string repository;
    std::string path;  // without slashes at its ends
    std::shared_ptr<Listing> listing;
  };

  // The repository that `path` is or lies in, which is listed if it never was.
  absl::StatusOr<Place> Find(const std::string& path) const ABSL_LOCKS_EXCLUDED(mu_);
  // Lists the repository, or waits for somebody who began to after this call.
  absl::Status List(const std::string& repository) const ABSL_LOCKS_EXCLUDED(mu_);
  // The name of the known repository in which `path` lies; `path` itself if there is none.
  std::string RepositoryOf(const std::string& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes `file`, as the list has it, what the store says of it now, with its tag.
  absl::Status Tag(const Place& place, CloudObject* file) const;
  // The files below `place`, with their tags.
  absl::StatusOr<std::vector<CloudObject>> Tagged(const Place& place) const;
  absl::StatusOr<std::unique_ptr<TempDirectory>> Copy(const Place& place) const;

  const FileSystem& local_;
  CloudStore& store_;
  CloudCache& cache_;
  mutable Mutex mu_;
  mutable CondVar changed_;
  mutable std::map<std::string, Repository> repositories_ ABSL_GUARDED_BY(mu_);
  // Models that could not be copied, by directory. The number is the directory's time, so that the
  // next look takes it for changed, and it is tried again.
  mutable std::map<std::string, int64_t> failures_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_CLOUD_CLOUD_FILE_SYSTEM_H_
