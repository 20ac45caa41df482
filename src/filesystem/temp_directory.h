// SPDX-License-Identifier: Apache-2.0
// TempDirectory: a new directory of this process in the folder for temporary files ($TMPDIR, else
// /tmp), removed on destruction with everything in it. Immutable except for the files. Blocks on
// I/O.
//
// On disk: nereid_KIND_XXXXXX/ (accessible only to its owner) with a file `lock`, on which the
// object holds a lock as long as it lives, and the folder `files`, which callers use. The system
// releases the lock when the process ends, however it ends. A directory whose lock can be taken
// therefore belongs to no process any more, and RemoveLeftovers removes it.
#ifndef NEREID_FILESYSTEM_TEMP_DIRECTORY_H_
#define NEREID_FILESYSTEM_TEMP_DIRECTORY_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>
#include <utility>

#include "base/export.h"

namespace nereid {

class NEREID_API TempDirectory {
 public:
  // The purpose of a directory, which is part of its name.
  static constexpr absl::string_view kModelFiles = "model";
  static constexpr absl::string_view kBackendCopy = "backend";
  static constexpr absl::string_view kCloudCache = "cloud";

  // In `parent`, or in the folder for temporary files if that is empty. INTERNAL if the machine
  // refuses to create one.
  static absl::StatusOr<std::unique_ptr<TempDirectory>> Make(absl::string_view kind = kModelFiles,
                                                             const std::string& parent = "");
  // Removes directories that killed processes of this user left behind, and returns their number.
  // Checks name, owner and lock, follows no symbolic link, and leaves alone any directory it is not
  // sure about. They lie in `parent`, or in the folder for temporary files if that is empty.
  static int RemoveLeftovers(const std::string& parent = "");

  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  // The folder `files`.
  const std::string& path() const { return path_; }

 private:
  TempDirectory(std::string root, int lock)
      : root_(std::move(root)), path_(root_ + "/files"), lock_(lock) {}

  const std::string root_;
  const std::string path_;
  const int lock_;  // descriptor of the open file `lock`
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_TEMP_DIRECTORY_H_
