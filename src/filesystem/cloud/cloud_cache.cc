// SPDX-License-Identifier: Apache-2.0
#include "filesystem/cloud/cloud_cache.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/blake2b.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostAtOnce = 16;
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr uint64_t kBytesWorthTelling = uint64_t{64} << 20;

absl::Status Failed(const char* what, const std::string& path) {
  return absl::InternalError(
      absl::StrCat("failed to ", what, " '", path, "': ", std::strerror(errno)));
}

void Add(const std::string& text, Blake2b128* hash) {
  const uint64_t size = text.size();
  hash->Update(&size, sizeof(size));
  hash->Update(text.data(), text.size());
}

bool HasSize(const std::string& path, uint64_t size) {
  struct stat file;
  return stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
         static_cast<uint64_t>(file.st_size) == size;
}

timespec ToTimespec(int64_t ns) {
  timespec time{};
  time.tv_sec = ns / kNanosPerSecond;
  time.tv_nsec = ns % kNanosPerSecond;
  return time;
}

struct Content {
  std::string path;
  uint64_t size;
  int64_t used_ns;
  bool serves;
};

std::vector<Content> ContentsOf(const std::string& directory) {
  std::vector<Content> contents;
  std::error_code error;
  for (fs::directory_iterator i(directory, error), end; !error && i != end; i.increment(error)) {
    const std::string path = i->path().string();
    struct stat file;
    if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) continue;
    contents.push_back({path, static_cast<uint64_t>(file.st_size),
                        file.st_atim.tv_sec * kNanosPerSecond + file.st_atim.tv_nsec,
                        file.st_nlink > 1});
  }
  return contents;
}

}  // namespace

absl::Status InParallel(size_t count, absl::FunctionRef<absl::Status(size_t)> job) {
  std::atomic<size_t> next{0};
  Mutex mu;
  absl::Status first;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      absl::Status status = job(i);
      if (status.ok()) continue;
      next = count;  // the others are of no use
      MutexLock lock(&mu);
      if (first.ok()) first = std::move(status);
    }
  };
  std::vector<std::thread> threads;
  try {
    for (size_t i = 1; i < std::min(count, kMostAtOnce); ++i) {
      threads.push_back(StartThread({.name = "cloud copy"}, work));
    }
  } catch (const std::system_error&) {
    // Fewer threads are enough.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  return first;
}

absl::Status CloudCache::Open() {
  if (is_open_.load(std::memory_order_acquire)) return absl::OkStatus();
  MutexLock lock(&mu_);
  if (is_open_.load(std::memory_order_relaxed)) return absl::OkStatus();
  directory_ = options_.directory;
  if (directory_.empty()) {
    if (!options_.parent.empty()) TempDirectory::RemoveLeftovers(options_.parent);
    ASSIGN_OR_RETURN(own_, TempDirectory::Make(TempDirectory::kCloudCache, options_.parent));
    directory_ = own_->path();
  }
  for (const std::string& path : {directory_, directory_ + "/objects"}) {
    struct stat found;
    if (mkdir(path.c_str(), 0700) == 0) continue;
    if (errno == EEXIST && stat(path.c_str(), &found) == 0 && !S_ISDIR(found.st_mode)) {
      errno = ENOTDIR;
    }
    if (errno != EEXIST) return Failed("make the directory", path);
  }
  TempDirectory::RemoveLeftovers(directory_);
  ASSIGN_OR_RETURN(partial_, TempDirectory::Make(TempDirectory::kCloudCache, directory_));
  is_open_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

std::string CloudCache::PathOf(const std::string& repository, const CloudObject& object) const {
  Blake2b128 hash;
  Add(repository, &hash);
  Add(object.path, &hash);
  Add(object.tag, &hash);
  Add(absl::StrCat(object.size), &hash);
  const Blake2b128::Digest digest = hash.Finish();
  return absl::StrCat(
      directory_, "/objects/",
      absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()}));
}

absl::Status CloudCache::Ensure(const std::string& repository,
                                const std::vector<CloudObject>& objects) {
  RETURN_IF_ERROR(Open());
  std::vector<const CloudObject*> missing;
  uint64_t bytes = 0;
  for (const CloudObject& object : objects) {
    if (HasSize(PathOf(repository, object), object.size)) continue;
    missing.push_back(&object);
    bytes += object.size;
  }
  if (missing.empty()) return absl::OkStatus();
  MakeRoom(bytes);
  const bool telling = bytes >= kBytesWorthTelling;
  if (telling) {
    LOG_INFO << "copying " << missing.size() << " files with " << (bytes >> 20) << " MiB from "
             << repository;
  }
  RETURN_IF_ERROR(
      InParallel(missing.size(), [&](size_t i) { return Download(repository, *missing[i], ""); }));
  if (telling) LOG_INFO << "copied " << (bytes >> 20) << " MiB from " << repository;
  return absl::OkStatus();
}

absl::Status CloudCache::Link(const std::string& repository, const CloudObject& object,
                              const std::string& target) {
  RETURN_IF_ERROR(Open());
  const std::string path = PathOf(repository, object);
  if (link(path.c_str(), target.c_str()) == 0) {
    if (HasSize(target, object.size)) {
      const timespec times[2] = {ToTimespec(static_cast<int64_t>(clock_.WallMillis()) * 1'000'000),
                                 {.tv_sec = 0, .tv_nsec = UTIME_OMIT}};
      utimensat(AT_FDCWD, path.c_str(), times, 0);
      return absl::OkStatus();
    }
    // Somebody has cut or lengthened it.
    unlink(target.c_str());
    unlink(path.c_str());
  } else if (errno != ENOENT) {
    return Failed("make the file", target);
  }
  MakeRoom(object.size);
  return Download(repository, object, target);
}

absl::StatusOr<std::unique_ptr<TempDirectory>> CloudCache::MakeFolder() {
  RETURN_IF_ERROR(Open());
  return TempDirectory::Make(TempDirectory::kModelFiles, directory_);
}

absl::Status CloudCache::Download(const std::string& repository, const CloudObject& object,
                                  const std::string& target) {
  const std::string partial = absl::StrCat(partial_->path(), "/", downloads_.fetch_add(1));
  absl::Status fetched = store_.Fetch(repository, object, partial);
  if (fetched.ok() && !HasSize(partial, object.size)) {
    fetched = absl::UnavailableError(
        absl::StrCat("'", object.path,
                     "' arrived with another size than the store told: ", object.size, " bytes"));
  }
  if (!fetched.ok()) {
    unlink(partial.c_str());
    return fetched;
  }
  // The time is the object's, by which backends and caches of answers tell models apart.
  const timespec times[2] = {ToTimespec(static_cast<int64_t>(clock_.WallMillis()) * 1'000'000),
                             ToTimespec(std::max<int64_t>(0, object.mtime_ns))};
  utimensat(AT_FDCWD, partial.c_str(), times, 0);
  chmod(partial.c_str(), 0444);
  if (!target.empty() && link(partial.c_str(), target.c_str()) != 0) {
    const absl::Status failed = Failed("make the file", target);
    unlink(partial.c_str());
    return failed;
  }
  const std::string path = PathOf(repository, object);
  if (std::rename(partial.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const absl::Status failed = Failed("make the file", path);
  unlink(partial.c_str());
  return failed;
}

void CloudCache::MakeRoom(uint64_t bytes) {
  std::vector<Content> contents = ContentsOf(directory_ + "/objects");
  uint64_t total = bytes;
  for (const Content& content : contents) total += content.size;
  if (total <= options_.most_bytes) return;
  std::sort(contents.begin(), contents.end(),
            [](const Content& a, const Content& b) { return a.used_ns < b.used_ns; });
  for (const Content& content : contents) {
    if (total <= options_.most_bytes) return;
    if (content.serves || unlink(content.path.c_str()) != 0) continue;
    total -= content.size;
  }
}

}  // namespace nereid
