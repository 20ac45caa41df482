// SPDX-License-Identifier: Apache-2.0
#include "filesystem/local_file_system.h"

#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/status_macros.h"

namespace nereid {
namespace {

absl::Status SystemError(absl::string_view what, const std::string& path, int error) {
  const std::string text = absl::StrCat(what, " ", path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(text);
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(text);
    default:
      return absl::InternalError(text);
  }
}

// A file descriptor, closed when destroyed.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

struct CloseDirectory {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

}  // namespace

absl::StatusOr<std::string> LocalFileSystem::ReadFile(const std::string& path) const {
  // Scripts look for this text if a configuration is missing.
  constexpr absl::string_view kWhat = "failed to open text file for read";
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return SystemError(kWhat, path, errno);

  struct stat info;
  if (::fstat(file.fd(), &info) != 0) return SystemError(kWhat, path, errno);
  if (S_ISDIR(info.st_mode)) return SystemError(kWhat, path, EISDIR);

  // The size is only a guess: the file may grow meanwhile, and special files report 0.
  constexpr size_t kStep = 64 * 1024;
  std::string content;
  content.resize(static_cast<size_t>(info.st_size) + 1);
  size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(used + kStep);
    const ssize_t got = ::read(file.fd(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("failed to read file", path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  content.resize(used);
  return content;
}

absl::StatusOr<std::vector<DirEntry>> LocalFileSystem::ListDirectory(
    const std::string& path) const {
  const std::unique_ptr<DIR, CloseDirectory> dir(::opendir(path.c_str()));
  if (dir == nullptr) return SystemError("failed to open directory", path, errno);

  std::vector<DirEntry> entries;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) {
      if (errno != 0) return SystemError("failed to read directory", path, errno);
      break;
    }
    const absl::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entry->d_type == DT_DIR || entry->d_type == DT_REG) {
      entries.push_back({std::string(name), entry->d_type == DT_DIR});
      continue;
    }
    // Links are followed, and some file systems do not report the type.
    absl::StatusOr<FileStat> stat = Stat(JoinPath(path, name));
    if (absl::IsNotFound(stat.status())) continue;
    if (!stat.ok()) return stat.status();
    entries.push_back({std::string(name), stat->is_directory});
  }
  std::sort(entries.begin(), entries.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return entries;
}

absl::StatusOr<FileStat> LocalFileSystem::Stat(const std::string& path) const {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return SystemError("failed to stat file", path, errno);
  FileStat stat;
  stat.is_directory = S_ISDIR(info.st_mode);
  stat.size = stat.is_directory ? 0 : static_cast<uint64_t>(info.st_size);
  stat.mtime_ns = static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
  return stat;
}

}  // namespace nereid
