// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/load/repository_list.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <limits.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/outside_text.h"
#include "base/status_macros.h"
#include "lifecycle/load/load_reader.h"
#include "repository/single_model.h"

namespace nereid {
namespace {

std::shared_ptr<const RepositoryLayout> FirstLayout(const FileSystem& fs,
                                                    std::set<std::string> paths, bool namespacing,
                                                    const std::string& single_model_name) {
  RepositoryLayout layout;
  layout.repositories = std::move(paths);
  layout.namespacing = namespacing;
  FindSingleModels(fs, single_model_name, &layout);
  for (const auto& [directory, name] : layout.single_models) {
    LOG_INFO << "'" << directory << "' is the folder of one model, which is served as '" << name
             << "'";
  }
  return std::make_shared<const RepositoryLayout>(std::move(layout));
}

absl::string_view AdviceFor(absl::string_view path) {
  if (!absl::StrContains(path, "://") || absl::StartsWith(path, "s3://")) return "";
  return "; of cloud storage only S3 (s3://) is supported: copy or mount it, and name that folder";
}

}  // namespace

RepositoryList::RepositoryList(const FileSystem* file_system, std::set<std::string> paths,
                               bool namespacing, const std::string& single_model_name)
    : file_system_(file_system),
      layout_(FirstLayout(*file_system, std::move(paths), namespacing, single_model_name)) {}

absl::Status RepositoryList::Check() const {
  const RepositoryLayout layout = Layout();
  if (layout.repositories.empty()) {
    return absl::InvalidArgumentError("--model-repository must be specified");
  }
  for (const std::string& path : layout.repositories) {
    const absl::StatusOr<std::vector<DirEntry>> entries = file_system_->ListDirectory(path);
    if (!entries.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("repository path is not a valid directory: '",
                                                     path, "': ", entries.status().message(),
                                                     AdviceFor(path)));
    }
  }
  for (const auto& [path, name] : layout.single_models) {
    RETURN_IF_ERROR(LoadReader::CheckName(name));
  }
  return absl::OkStatus();
}

std::set<ModelId> RepositoryList::Models() const {
  std::set<ModelId> ids;
  const RepositoryLayout layout = Layout();
  for (const std::string& repository : layout.repositories) {
    RepositoryLayout one = layout;
    one.repositories = {repository};
    const auto directories = ListModelDirectories(*file_system_, one);
    if (!directories.ok()) continue;
    for (const auto& [id, paths] : *directories) ids.insert(id);
  }
  return ids;
}

absl::Status RepositoryList::Register(const std::string& path, const GivenNames& names) {
  RETURN_IF_ERROR(CheckOutsideName("repository path", path, PATH_MAX));
  for (const auto& [directory, name] : names) RETURN_IF_ERROR(LoadReader::CheckName(name));
  // Before the lock: a path may be on a slow network.
  const auto stat = file_system_->Stat(path);
  if (!stat.ok() || !stat->is_directory) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to register '", path, "', repository not found"));
  }
  MutexLock lock(&mu_);
  RepositoryLayout layout = Layout();
  if (layout.repositories.count(path) > 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("model repository '", path, "' has already been registered"));
  }
  for (const auto& [repository, given] : layout.names) {
    // With namespaces, the same name in two repositories means two models.
    if (layout.namespacing) break;
    for (const auto& [directory, name] : names) {
      if (given.count(name) == 0) continue;
      return absl::AlreadyExistsError(absl::StrCat(
          "failed to register '", name, "', there is a conflicting mapping for '", name, "'"));
    }
  }
  for (const auto& [directory, name] : names) {
    const auto [given, fresh] = layout.names[path].emplace(name, directory);
    if (fresh || given->second == directory) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "failed to register '", path, "', there is a conflicting mapping for '", name, "'"));
  }
  layout.repositories.insert(path);
  (void)layout_.Set(std::make_shared<const RepositoryLayout>(std::move(layout)));
  return absl::OkStatus();
}

absl::Status RepositoryList::Unregister(const std::string& path) {
  MutexLock lock(&mu_);
  RepositoryLayout layout = Layout();
  if (layout.repositories.erase(path) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to unregister '", path, "', repository not found"));
  }
  layout.names.erase(path);
  layout.single_models.erase(path);
  (void)layout_.Set(std::make_shared<const RepositoryLayout>(std::move(layout)));
  return absl::OkStatus();
}

}  // namespace nereid
