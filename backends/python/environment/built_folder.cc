// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/built_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;

Error SystemError(const std::string& what) {
  return Error::Internal(StrCat(what, ": ", std::strerror(errno)));
}

// An exclusive lock on a file, held until destruction.
class FileLock {
 public:
  ~FileLock() {
    if (fd_ >= 0) close(fd_);
  }
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  Error Take(const std::string& path, const std::string& what) {
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd_ < 0) return SystemError(StrCat("can not open '", path, "'"));
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return Error();
    NB_LOG_INFO("waiting for ", what, ", which somebody else is making");
    while (flock(fd_, LOCK_EX) != 0) {
      if (errno != EINTR) return SystemError(StrCat("can not lock '", path, "'"));
    }
    return Error();
  }

 private:
  int fd_ = -1;
};

Error MakeCache(const std::string& cache) {
  std::error_code error;
  if (!fs::exists(cache, error)) {
    fs::create_directories(fs::path(cache).parent_path(), error);
    if (mkdir(cache.c_str(), 0700) != 0 && errno != EEXIST) {
      return SystemError(StrCat("can not make the folder '", cache, "'"));
    }
  }
  struct stat status {};
  if (stat(cache.c_str(), &status) != 0) return SystemError(StrCat("can not read '", cache, "'"));
  const bool ours = status.st_uid == geteuid() || status.st_uid == 0;
  if (S_ISDIR(status.st_mode) && ours && (status.st_mode & S_IWOTH) == 0) {
    return Error();
  }
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("'", cache, "' can not be the cache of Python environments: it has to be a ",
                      "folder of this user that others can not write to (backend setting ",
                      "'requirements-cache')"));
}

// Written to disk before the folder is marked complete.
Error WriteMark(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return SystemError(StrCat("can not write '", path, "'"));
  const bool lasting = syncfs(fd) == 0;
  close(fd);
  return lasting ? Error() : SystemError(StrCat("can not write '", path, "'"));
}

// FNV-1a in 64 bits, with two initial values.
uint64_t Hash(uint64_t hash, const std::string& text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

Result<std::string> GetBuiltFolder(const FolderRequest& request) {
  NB_RETURN_IF_ERROR(MakeCache(request.cache));
  std::error_code error;
  const fs::path cache = fs::canonical(request.cache, error);
  const std::string folder = cache / request.key;
  const std::string mark = cache / (request.key + ".complete");
  FileLock lock;
  NB_RETURN_IF_ERROR(lock.Take(cache / (request.key + ".lock"), request.what));
  if (fs::exists(mark, error) && fs::is_directory(folder, error)) return folder;
  fs::remove(mark, error);
  fs::remove_all(folder, error);
  if (mkdir(folder.c_str(), 0700) != 0) {
    return SystemError(StrCat("can not make the folder '", folder, "'"));
  }
  Error made = request.make(folder);
  if (made.ok()) made = WriteMark(mark);
  if (made.ok()) return folder;
  fs::remove_all(folder, error);
  return made;
}

std::string KeyOfTexts(const std::vector<std::string>& texts) {
  std::array<uint64_t, 2> hashes = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
  for (const std::string& text : texts) {
    for (uint64_t& hash : hashes) hash = Hash(Hash(hash, StrCat(text.size(), ":")), text);
  }
  char key[33];
  snprintf(key, sizeof(key), "%016llx%016llx", static_cast<unsigned long long>(hashes[0]),
           static_cast<unsigned long long>(hashes[1]));
  return key;
}

}  // namespace nereid_backend
