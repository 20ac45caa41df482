// TempDirectory: a new directory of this process in the folder for temporary files ($TMPDIR, else
// /tmp), removed with all that is in it. Immutable but for the files. Blocks on I/O.
//
// On disk: nereid_KIND_XXXXXX/ (only its owner may look into it) with a file `lock`, which this
// holds a lock on as long as it lives, and the folder `files`, which is what callers get. The
// system gives the lock back when the process ends, however it ends; so a directory whose lock
// can be had belongs to nobody any more, and RemoveLeftovers removes it.
#ifndef NEREID_FILESYSTEM_TEMP_DIRECTORY_H_
#define NEREID_FILESYSTEM_TEMP_DIRECTORY_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>
#include <utility>

namespace nereid {

class TempDirectory {
 public:
  // What a directory is for, as its name says.
  static constexpr absl::string_view kModelFiles = "model";
  static constexpr absl::string_view kBackendCopy = "backend";

  // INTERNAL where the machine refuses one.
  static absl::StatusOr<std::unique_ptr<TempDirectory>> Make(absl::string_view kind = kModelFiles);
  // Removes directories that processes of this user left behind when they were killed, and returns
  // how many. Goes by name, owner and lock, follows no symbolic link, and leaves alone what it
  // cannot be sure of.
  static int RemoveLeftovers();

  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  // The folder for files.
  const std::string& path() const { return path_; }

 private:
  TempDirectory(std::string root, int lock)
      : root_(std::move(root)), path_(root_ + "/files"), lock_(lock) {}

  const std::string root_;
  const std::string path_;
  const int lock_;  // the open file `lock`
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_TEMP_DIRECTORY_H_
