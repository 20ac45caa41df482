// SPDX-License-Identifier: Apache-2.0
// LocalFileSystem: the files of this machine. Thread-safe (has no state).
#ifndef NEREID_FILESYSTEM_LOCAL_FILE_SYSTEM_H_
#define NEREID_FILESYSTEM_LOCAL_FILE_SYSTEM_H_

#include <string>
#include <vector>

#include "filesystem/file_system.h"

namespace nereid {

class NEREID_API LocalFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::string> ReadFile(const std::string& path) const override;
  absl::StatusOr<std::vector<DirEntry>> ListDirectory(const std::string& path) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_LOCAL_FILE_SYSTEM_H_
