// SPDX-License-Identifier: Apache-2.0
#include "filesystem/fake_file_system.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

std::string Normal(const std::string& path) { return std::string(absl::StripSuffix(path, "/")); }

std::string Parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

void FakeFileSystem::WriteFile(const std::string& path, std::string content) {
  MutexLock lock(&mu_);
  ++now_ns_;
  AddDirectories(Parent(path));
  nodes_[path] = {false, std::move(content), now_ns_};
}

void FakeFileSystem::MakeDirectory(const std::string& path) {
  MutexLock lock(&mu_);
  ++now_ns_;
  AddDirectories(Normal(path));
}

void FakeFileSystem::Remove(const std::string& path) {
  MutexLock lock(&mu_);
  ++now_ns_;
  const std::string root = Normal(path);
  nodes_.erase(root);
  const std::string below = root + "/";
  auto it = nodes_.lower_bound(below);
  while (it != nodes_.end() && absl::StartsWith(it->first, below)) it = nodes_.erase(it);
  if (auto parent = nodes_.find(Parent(root)); parent != nodes_.end()) {
    parent->second.mtime_ns = now_ns_;
  }
}

void FakeFileSystem::Fail(const std::string& path, absl::Status error) {
  MutexLock lock(&mu_);
  failures_[Normal(path)] = std::move(error);
}

absl::StatusOr<std::string> FakeFileSystem::ReadFile(const std::string& path) const {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(const Node* node, Find(path, "failed to open text file for read"));
  if (node->is_directory) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to open text file for read ", path, ": Is a directory"));
  }
  return node->content;
}

absl::StatusOr<std::vector<DirEntry>> FakeFileSystem::ListDirectory(const std::string& path) const {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(const Node* node, Find(path, "failed to open directory"));
  if (!node->is_directory) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to open directory ", path, ": Not a directory"));
  }
  const std::string below = Normal(path) + "/";
  std::map<std::string, bool> found;  // by name
  for (auto it = nodes_.lower_bound(below);
       it != nodes_.end() && absl::StartsWith(it->first, below); ++it) {
    std::string name = it->first.substr(below.size());
    if (!absl::StrContains(name, '/')) found.emplace(std::move(name), it->second.is_directory);
  }
  std::vector<DirEntry> entries;
  for (auto& [name, is_directory] : found) entries.push_back({name, is_directory});
  return entries;
}

absl::StatusOr<FileStat> FakeFileSystem::Stat(const std::string& path) const {
  MutexLock lock(&mu_);
  ASSIGN_OR_RETURN(const Node* node, Find(path, "failed to stat file"));
  return FileStat{node->is_directory, node->content.size(), node->mtime_ns};
}

void FakeFileSystem::AddDirectories(const std::string& path) {
  if (path.empty()) return;
  if (auto it = nodes_.find(path); it != nodes_.end()) {
    it->second.mtime_ns = now_ns_;
    return;
  }
  nodes_[path] = {true, "", now_ns_};
  AddDirectories(Parent(path));
}

absl::StatusOr<const FakeFileSystem::Node*> FakeFileSystem::Find(const std::string& path,
                                                                 const char* what) const {
  const std::string key = Normal(path);
  if (auto it = failures_.find(key); it != failures_.end()) return it->second;
  auto it = nodes_.find(key);
  if (it == nodes_.end()) {
    return absl::NotFoundError(absl::StrCat(what, " ", path, ": No such file or directory"));
  }
  return &it->second;
}

}  // namespace nereid
