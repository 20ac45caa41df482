// SPDX-License-Identifier: Apache-2.0
// FileSystem: read access to the places where models are stored. One object serves the whole server
// and is owned by the composition root. Every implementation is thread-safe. All methods block on
// I/O. Paths are absolute; symbolic links are followed.
#ifndef NEREID_FILESYSTEM_FILE_SYSTEM_H_
#define NEREID_FILESYSTEM_FILE_SYSTEM_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/export.h"
#include "filesystem/temp_directory.h"

namespace nereid {

struct DirEntry {
  std::string name;  // without the path
  bool is_directory = false;

  friend bool operator==(const DirEntry&, const DirEntry&) = default;
};

struct FileStat {
  bool is_directory = false;
  uint64_t size = 0;     // bytes; 0 for directories
  int64_t mtime_ns = 0;  // last modification, nanoseconds since the Unix epoch

  friend bool operator==(const FileStat&, const FileStat&) = default;
};

// Errors name the path and say what is wrong: NOT_FOUND if nothing exists there, PERMISSION_DENIED,
// INVALID_ARGUMENT if a directory is found instead of a file or the reverse, otherwise INTERNAL.
class NEREID_API FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The whole content of a file.
  virtual absl::StatusOr<std::string> ReadFile(const std::string& path) const = 0;
  // Files and directories in `path`, sorted by name (bytewise), without "." and "..". An entry
  // whose target is missing (dangling link) is left out.
  virtual absl::StatusOr<std::vector<DirEntry>> ListDirectory(const std::string& path) const = 0;
  virtual absl::StatusOr<FileStat> Stat(const std::string& path) const = 0;

  // Where what lies in the directory `repository` is remembered, looks at it anew; otherwise it is
  // looked at by each call, and this does nothing. After an error the old view holds.
  virtual absl::Status Refresh(const std::string& repository) const;
  // Where files come from far away, gets those of `directories`, all at the same time, so that
  // Localize finds them near. What cannot be had, Localize reports.
  virtual void Prefetch(const std::vector<std::string>& directories) const;
  // A folder of this machine with what lies in `directory`, for those who open files by themselves;
  // null if `directory` is such a folder.
  virtual absl::StatusOr<std::unique_ptr<TempDirectory>> Localize(
      const std::string& directory) const;

  // Whether a file or directory exists; an error if that cannot be determined.
  absl::StatusOr<bool> Exists(const std::string& path) const;
};

// "<directory>/<name>", without doubling the slash.
NEREID_API std::string JoinPath(absl::string_view directory, absl::string_view name);

// `path` as the path of a file in a folder: without dots, and without slashes in front, as JoinPath
// takes it. Nothing if it leads out of the folder, or names the folder itself or a folder in it.
NEREID_API std::optional<std::string> PathInside(absl::string_view path);

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_FILE_SYSTEM_H_
