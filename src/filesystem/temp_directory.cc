// SPDX-License-Identifier: Apache-2.0
#include "filesystem/temp_directory.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <vector>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kPrefix = "nereid_";
constexpr absl::string_view kKinds[] = {TempDirectory::kModelFiles, TempDirectory::kBackendCopy,
                                        TempDirectory::kCloudCache};
constexpr size_t kRandomLetters = 6;
constexpr char kLock[] = "lock";

// A starting process may mistake a new directory for a leftover before the directory is locked.
constexpr int kAttempts = 16;

// An open file, closed on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool ok() const { return number_ >= 0; }
  int number() const { return number_; }
  int Take() { return std::exchange(number_, -1); }

 private:
  int number_;
};

int OpenDirectory(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool IsOurs(const struct stat& file) { return file.st_uid == geteuid(); }

bool IsOurName(absl::string_view name) {
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](absl::string_view kind) {
    const std::string start = absl::StrCat(kPrefix, kind, "_");
    if (!absl::StartsWith(name, start) || name.size() != start.size() + kRandomLetters) {
      return false;
    }
    return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(start.size()), name.end(),
                       [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); });
  });
}

// Whether the file that is open as `number` still has a name.
bool IsLinked(int number) {
  struct stat file;
  return fstat(number, &file) == 0 && file.st_nlink > 0;
}

// Removes the content of the open directory, its lock last, and then `path`, which leads to it.
// Works on the open directory, so that replacing `path` gains an attacker nothing. If there is no
// memory for that, the rest stays and is removed by the next process that starts.
std::error_code RemoveTree(int directory, const std::string& path) noexcept try {
  const fs::path inside = absl::StrCat("/proc/self/fd/", directory);
  std::vector<fs::path> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(inside)) {
    if (entry.path().filename() != kLock) names.push_back(entry.path().filename());
  }
  for (const fs::path& name : names) fs::remove_all(inside / name);
  if (unlinkat(directory, kLock, 0) != 0 && errno != ENOENT) {
    return std::error_code(errno, std::generic_category());
  }
  if (rmdir(path.c_str()) != 0) return std::error_code(errno, std::generic_category());
  return {};
} catch (const fs::filesystem_error& e) {
  return e.code();
} catch (const std::bad_alloc&) {
  return std::make_error_code(std::errc::not_enough_memory);
}

// Removes `path` if it is one of our directories that no process holds any more. Returns whether it
// did.
bool RemoveLeftover(const std::string& path) {
  const Descriptor directory(OpenDirectory(path));
  struct stat file;
  if (!directory.ok() || fstat(directory.number(), &file) != 0 || !IsOurs(file)) return false;
  // These flags make sure that opening neither blocks nor follows a link, whatever has that name.
  const Descriptor lock(
      openat(directory.number(), kLock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!lock.ok()) {
    // The process that made the directory may be about to create the lock. It makes another
    // directory if this one is gone. rmdir fails for a directory that is not empty.
    return errno == ENOENT && rmdir(path.c_str()) == 0;
  }
  if (fstat(lock.number(), &file) != 0 || !S_ISREG(file.st_mode) || !IsOurs(file)) return false;
  if (flock(lock.number(), LOCK_EX | LOCK_NB) != 0) return false;  // the owner is alive
  const std::error_code error = RemoveTree(directory.number(), path);
  if (error) LOG_WARNING << "failed to remove " << path << ": " << strerror(error.value());
  return !error;
}

absl::Status Refused(const std::string& path) {
  return absl::InternalError(
      absl::StrCat("failed to make the directory ", path, ": ", std::strerror(errno)));
}

// Makes the directory `path`, a pattern of mkdtemp, and its lock. -1 if another process removed it
// meanwhile.
absl::StatusOr<int> MakeLocked(std::string* path) {
  if (mkdtemp(path->data()) == nullptr) return Refused(*path);
  const std::string file = absl::StrCat(*path, "/", kLock);
  Descriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.ok()) {
    if (errno == ENOENT) return -1;
    const absl::Status refused = Refused(file);
    rmdir(path->c_str());
    return refused;
  }
  if (flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return -1;
    const absl::Status refused = Refused(file);
    unlink(file.c_str());
    rmdir(path->c_str());
    return refused;
  }
  if (!IsLinked(lock.number())) return -1;
  return lock.Take();
}

// `given`, or the folder for temporary files.
absl::StatusOr<std::string> Parent(const std::string& given) {
  if (!given.empty()) return given;
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (!error) return parent.string();
  return absl::InternalError(
      absl::StrCat("there is no directory for temporary files: ", error.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TempDirectory>> TempDirectory::Make(absl::string_view kind,
                                                                   const std::string& given) {
  ASSIGN_OR_RETURN(const std::string parent, Parent(given));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string root =
        absl::StrCat(parent, "/", kPrefix, kind, "_", std::string(kRandomLetters, 'X'));
    ASSIGN_OR_RETURN(const int lock, MakeLocked(&root));
    if (lock < 0) continue;
    std::unique_ptr<TempDirectory> made(new TempDirectory(std::move(root), lock));
    if (mkdir(made->path().c_str(), 0700) != 0) return Refused(made->path());
    return made;
  }
  return absl::InternalError(
      absl::StrCat("failed to make a directory in ", parent, ": others remove it again and again"));
}

TempDirectory::~TempDirectory() {
  std::error_code error;
  if (const Descriptor directory(OpenDirectory(root_)); directory.ok()) {
    error = RemoveTree(directory.number(), root_);
  } else {
    error = std::error_code(errno, std::generic_category());
  }
  if (error) LOG_WARNING << "failed to remove " << root_ << ": " << strerror(error.value());
  close(lock_);
}

int TempDirectory::RemoveLeftovers(const std::string& given) {
  const absl::StatusOr<std::string> parent = Parent(given);
  if (!parent.ok()) return 0;
  std::vector<std::string> found;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(*parent)) {
      if (IsOurName(entry.path().filename().string())) found.push_back(entry.path().string());
    }
  } catch (const fs::filesystem_error&) {
    // The entries read so far are examined.
  }
  int removed = 0;
  for (const std::string& path : found) {
    if (!RemoveLeftover(path)) continue;
    LOG_INFO << "removed " << path << ", which a process that is gone left behind";
    ++removed;
  }
  return removed;
}

}  // namespace nereid
