// SPDX-License-Identifier: Apache-2.0
// FakeFileSystem: files in memory, for tests. Directories come into existence with the files in
// them. Every change advances a simulated clock, so that changed files have a new mtime.
// Thread-safe.
#ifndef NEREID_FILESYSTEM_FAKE_FILE_SYSTEM_H_
#define NEREID_FILESYSTEM_FAKE_FILE_SYSTEM_H_

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "filesystem/file_system.h"

namespace nereid {

class NEREID_API FakeFileSystem final : public FileSystem {
 public:
  // Creates or replaces a file, and creates the directories above it.
  void WriteFile(const std::string& path, std::string content) ABSL_LOCKS_EXCLUDED(mu_);
  // Creates an (empty) directory and those above it.
  void MakeDirectory(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_);
  // Removes a file, or a directory with all that is in it. No-op when nothing is there.
  void Remove(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_);
  // From now on every access to `path` itself fails with `error`.
  void Fail(const std::string& path, absl::Status error) ABSL_LOCKS_EXCLUDED(mu_);

  absl::StatusOr<std::string> ReadFile(const std::string& path) const override
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<std::vector<DirEntry>> ListDirectory(const std::string& path) const override
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<FileStat> Stat(const std::string& path) const override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Node {
    bool is_directory = false;
    std::string content;
    int64_t mtime_ns = 0;
  };

  void AddDirectories(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<const Node*> Find(const std::string& path, const char* what) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  std::map<std::string, Node> nodes_ ABSL_GUARDED_BY(mu_);  // by path without a final slash
  std::map<std::string, absl::Status> failures_ ABSL_GUARDED_BY(mu_);
  int64_t now_ns_ ABSL_GUARDED_BY(mu_) = 1'000'000'000;
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_FAKE_FILE_SYSTEM_H_
