// FileStamp: what distinguishes one content of a file from another without reading it. A plain
// value.
#ifndef NEREID_BASE_FILE_STAMP_H_
#define NEREID_BASE_FILE_STAMP_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace nereid {

// All zero if there is no file.
struct FileStamp {
  uint64_t device = 0, inode = 0;
  int64_t size = 0, seconds = 0, nanoseconds = 0;

  bool operator==(const FileStamp&) const = default;

  // Follows links, since what Kubernetes replaces is a link on the way to the file. May block for
  // as long as the file system takes.
  static FileStamp Of(const std::string& path) {
    struct stat found;
    if (path.empty() || stat(path.c_str(), &found) != 0) return {};
    return {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
  }
};

}  // namespace nereid

#endif  // NEREID_BASE_FILE_STAMP_H_
