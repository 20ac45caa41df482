// SPDX-License-Identifier: Apache-2.0
#include "filesystem/cloud/cloud_file_system.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <filesystem>
#include <set>
#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kScheme = "s3://";

// Those of the scheme stay.
std::string WithoutSlashes(absl::string_view path) {
  while (path != kScheme && absl::ConsumeSuffix(&path, "/")) {
  }
  return std::string(path);
}

bool LiesIn(absl::string_view path, absl::string_view directory) {
  return absl::StartsWith(path, directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

absl::Status Missing(const std::string& path) {
  return absl::NotFoundError(absl::StrCat("directory or file does not exist at ", path));
}

}  // namespace

// The objects of a repository at one moment. But for the tags, which are asked for one by one, it
// does not change.
class CloudFileSystem::Listing {
 public:
  explicit Listing(std::vector<CloudObject> objects) {
    folders_[""];
    for (CloudObject& object : objects) Add(std::move(object));
    // A name that is a folder and an object cannot be both on a disk.
    for (const auto& [folder, entries] : folders_) files_.erase(folder);
    for (const auto& [path, file] : files_) AddTo(path, false);
  }

  // Null: no such folder.
  const std::set<std::string>* FoldersIn(const std::string& path) const {
    const auto folder = folders_.find(path);
    return folder == folders_.end() ? nullptr : &folder->second.folders;
  }
  std::vector<DirEntry> EntriesOf(const std::string& path) const {
    std::map<std::string, bool> names;
    const Folder& folder = folders_.at(path);
    for (const std::string& name : folder.folders) names[name] = true;
    for (const std::string& name : folder.files) names.emplace(name, false);
    std::vector<DirEntry> entries;
    for (const auto& [name, is_directory] : names) entries.push_back({name, is_directory});
    return entries;
  }
  // Null: no such file.
  const CloudObject* File(const std::string& path) const {
    const auto file = files_.find(path);
    return file == files_.end() ? nullptr : &file->second;
  }
  std::vector<CloudObject> FilesBelow(const std::string& path) const {
    std::vector<CloudObject> found;
    for (const auto& [name, file] : files_) {
      if (path.empty() || LiesIn(name, path)) found.push_back(file);
    }
    return found;
  }
  std::vector<std::string> FoldersBelow(const std::string& path) const {
    std::vector<std::string> found;
    for (const auto& [name, folder] : folders_) {
      if (!name.empty() && (path.empty() || LiesIn(name, path))) found.push_back(name);
    }
    return found;
  }

  // The object as the store described it since the list was made; null: it was not asked.
  std::optional<CloudObject> Known(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    const auto known = known_.find(path);
    if (known == known_.end()) return std::nullopt;
    return known->second;
  }
  void Remember(const CloudObject& object) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    known_[object.path] = object;
  }
  void Forget(const std::vector<CloudObject>& objects) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    for (const CloudObject& object : objects) known_.erase(object.path);
  }

 private:
  struct Folder {
    std::set<std::string> folders;
    std::set<std::string> files;
  };

  void Add(CloudObject object) {
    const bool is_folder = absl::EndsWith(object.path, "/");
    const std::string path = WithoutSlashes(object.path);
    // Names with dots, doubled slashes and the like cannot be those of files.
    if (PathInside(path) != path) return;
    if (is_folder) {
      AddFolder(path);
    } else {
      const size_t slash = path.rfind('/');
      if (slash != std::string::npos) AddFolder(path.substr(0, slash));
      files_[path] = std::move(object);
    }
  }
  // With those above it.
  void AddFolder(std::string path) {
    while (!path.empty()) {
      folders_[path];
      AddTo(path, true);
      const size_t slash = path.rfind('/');
      path.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  void AddTo(const std::string& path, bool is_folder) {
    const size_t slash = path.rfind('/');
    Folder& parent = folders_[slash == std::string::npos ? "" : path.substr(0, slash)];
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    (is_folder ? parent.folders : parent.files).insert(name);
  }

  std::map<std::string, Folder> folders_;  // by path; "" is the repository
  std::map<std::string, CloudObject> files_;
  Mutex mu_;
  std::map<std::string, CloudObject> known_ ABSL_GUARDED_BY(mu_);
};

CloudFileSystem::CloudFileSystem(const FileSystem* local, CloudStore* store, CloudCache* cache)
    : local_(*local), store_(*store), cache_(*cache) {}

CloudFileSystem::~CloudFileSystem() = default;

bool CloudFileSystem::IsCloud(absl::string_view path) { return absl::StartsWith(path, kScheme); }

std::string CloudFileSystem::RepositoryOf(const std::string& path) const {
  for (const auto& [name, repository] : repositories_) {
    if (repository.listing != nullptr && LiesIn(path, name)) return name;
  }
  return path;
}

absl::StatusOr<CloudFileSystem::Place> CloudFileSystem::Find(const std::string& path) const {
  const std::string clean = WithoutSlashes(path);
  Place place;
  {
    MutexLock lock(&mu_);
    place.repository = RepositoryOf(clean);
    place.listing = repositories_[place.repository].listing;
  }
  if (place.listing == nullptr) {
    RETURN_IF_ERROR(List(place.repository));
    MutexLock lock(&mu_);
    place.listing = repositories_[place.repository].listing;
  }
  if (clean.size() > place.repository.size()) {
    place.path = clean.substr(place.repository.size() + 1);
  }
  return place;
}

absl::Status CloudFileSystem::List(const std::string& name) const {
  {
    MutexLock lock(&mu_);
    Repository& repository = repositories_[name];
    const uint64_t wanted = repository.begun + 1;
    while (repository.listing_now && repository.ended < wanted) changed_.Wait(&mu_);
    if (repository.ended >= wanted) return repository.last;
    repository.listing_now = true;
    ++repository.begun;
  }
  absl::StatusOr<std::vector<CloudObject>> objects = store_.List(name);
  std::shared_ptr<Listing> listing;
  if (objects.ok()) listing = std::make_shared<Listing>(*std::move(objects));
  absl::Status status = objects.status();
  if (!status.ok()) {
    status =
        absl::Status(status.code(), absl::StrCat("failed to list ", name, ": ", status.message()));
  }
  {
    MutexLock lock(&mu_);
    Repository& repository = repositories_[name];
    if (listing != nullptr) repository.listing = std::move(listing);
    repository.last = status;
    repository.ended = repository.begun;
    repository.listing_now = false;
  }
  changed_.NotifyAll();
  return status;
}

absl::Status CloudFileSystem::Refresh(const std::string& repository) const {
  if (!IsCloud(repository)) return local_.Refresh(repository);
  std::string name;
  {
    MutexLock lock(&mu_);
    name = RepositoryOf(WithoutSlashes(repository));
  }
  return List(name);
}

absl::StatusOr<std::vector<DirEntry>> CloudFileSystem::ListDirectory(
    const std::string& path) const {
  if (!IsCloud(path)) return local_.ListDirectory(path);
  ASSIGN_OR_RETURN(const Place place, Find(path));
  if (place.listing->FoldersIn(place.path) != nullptr) return place.listing->EntriesOf(place.path);
  if (place.listing->File(place.path) == nullptr) return Missing(path);
  return absl::InvalidArgumentError(absl::StrCat("'", path, "' is a file, not a directory"));
}

absl::StatusOr<FileStat> CloudFileSystem::Stat(const std::string& path) const {
  if (!IsCloud(path)) return local_.Stat(path);
  ASSIGN_OR_RETURN(const Place place, Find(path));
  if (place.listing->FoldersIn(place.path) != nullptr) {
    MutexLock lock(&mu_);
    const auto failures = failures_.find(WithoutSlashes(path));
    return FileStat{true, 0, failures == failures_.end() ? 0 : failures->second};
  }
  const CloudObject* const file = place.listing->File(place.path);
  if (file == nullptr) return Missing(path);
  return FileStat{false, file->size, file->mtime_ns};
}

absl::Status CloudFileSystem::Tag(const Place& place, CloudObject* file) const {
  std::optional<CloudObject> known = place.listing->Known(file->path);
  if (!known.has_value()) {
    ASSIGN_OR_RETURN(known, store_.Stat(place.repository, file->path));
    known->mtime_ns = file->mtime_ns;
    place.listing->Remember(*known);
  }
  *file = *std::move(known);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CloudObject>> CloudFileSystem::Tagged(const Place& place) const {
  std::vector<CloudObject> files = place.listing->FilesBelow(place.path);
  RETURN_IF_ERROR(InParallel(files.size(), [&](size_t i) { return Tag(place, &files[i]); }));
  return files;
}

absl::StatusOr<std::string> CloudFileSystem::ReadFile(const std::string& path) const {
  if (!IsCloud(path)) return local_.ReadFile(path);
  ASSIGN_OR_RETURN(const Place place, Find(path));
  if (place.listing->File(place.path) == nullptr) return Missing(path);
  ASSIGN_OR_RETURN(const std::vector<CloudObject> files, Tagged(place));
  ASSIGN_OR_RETURN(const std::unique_ptr<TempDirectory> folder, cache_.MakeFolder());
  const std::string target = JoinPath(folder->path(), "file");
  RETURN_IF_ERROR(cache_.Link(place.repository, files.front(), target));
  return local_.ReadFile(target);
}

void CloudFileSystem::Prefetch(const std::vector<std::string>& directories) const {
  struct Wanted {
    const Place* place;
    CloudObject file;
    bool tagged = false;
  };
  std::vector<Place> places;
  for (const std::string& directory : directories) {
    if (!IsCloud(directory)) continue;
    absl::StatusOr<Place> place = Find(directory);
    if (place.ok()) places.push_back(*std::move(place));
  }
  std::vector<Wanted> wanted;
  for (const Place& place : places) {
    for (CloudObject& file : place.listing->FilesBelow(place.path)) {
      wanted.push_back({&place, std::move(file)});
    }
  }
  // One that fails does not keep the others from being asked for.
  (void)InParallel(wanted.size(), [&](size_t i) {
    wanted[i].tagged = Tag(*wanted[i].place, &wanted[i].file).ok();
    return absl::OkStatus();
  });
  std::map<std::string, std::vector<CloudObject>> files;
  for (Wanted& one : wanted) {
    if (one.tagged) files[one.place->repository].push_back(std::move(one.file));
  }
  for (const auto& [repository, objects] : files) (void)cache_.Ensure(repository, objects);
}

absl::StatusOr<std::unique_ptr<TempDirectory>> CloudFileSystem::Localize(
    const std::string& directory) const {
  if (!IsCloud(directory)) return local_.Localize(directory);
  ASSIGN_OR_RETURN(const Place place, Find(directory));
  if (place.listing->FoldersIn(place.path) == nullptr) return Missing(directory);
  absl::StatusOr<std::unique_ptr<TempDirectory>> folder = Copy(place);
  if (folder.ok()) return folder;
  // Of an object that was replaced meanwhile, the new content is to be had next time.
  place.listing->Forget(place.listing->FilesBelow(place.path));
  {
    MutexLock lock(&mu_);
    ++failures_[WithoutSlashes(directory)];
  }
  return absl::Status(folder.status().code(),
                      absl::StrCat("failed to copy ", directory, ": ", folder.status().message()));
}

absl::StatusOr<std::unique_ptr<TempDirectory>> CloudFileSystem::Copy(const Place& place) const {
  ASSIGN_OR_RETURN(const std::vector<CloudObject> files, Tagged(place));
  RETURN_IF_ERROR(cache_.Ensure(place.repository, files));
  ASSIGN_OR_RETURN(std::unique_ptr<TempDirectory> folder, cache_.MakeFolder());
  const size_t skipped = place.path.empty() ? 0 : place.path.size() + 1;
  for (const std::string& path : place.listing->FoldersBelow(place.path)) {
    if (path.size() <= skipped) continue;
    std::error_code error;
    const std::string made = JoinPath(folder->path(), path.substr(skipped));
    fs::create_directories(made, error);
    if (error) {
      return absl::InternalError(
          absl::StrCat("failed to make the directory ", made, ": ", error.message()));
    }
  }
  for (const CloudObject& file : files) {
    const std::string target = JoinPath(folder->path(), file.path.substr(skipped));
    RETURN_IF_ERROR(cache_.Link(place.repository, file, target));
  }
  return folder;
}

}  // namespace nereid
