// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/catalogue/model_directory.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "base/status_macros.h"

namespace nereid {

bool ModelEntry::serves() const {
  return std::any_of(versions.begin(), versions.end(),
                     [](const auto& version) { return version.second.ready(); });
}

void ModelDirectory::Finish() {
  const auto changes = models.TakeChanges();
  if (!namespacing) return;
  const auto take_out = [&](const std::string& name, const std::string& key) {
    Entries& entries = by_name_[name];
    std::erase_if(entries, [&](const ModelEntry* entry) { return entry->id.Text() == key; });
    if (entries.empty()) by_name_.erase(by_name_.find(name));
  };
  for (const auto& [key, before] : changes) {
    if (before != nullptr) take_out(before->id.name, key);
    const auto now = models.find(key);
    if (now == models.end()) continue;
    take_out(now->second.id.name, key);
    by_name_[now->second.id.name].push_back(&now->second);
  }
  by_name_.TakeChanges();
}

ModelDirectory::Entries ModelDirectory::AllNamed(absl::string_view name) const {
  const std::string_view key(name.data(), name.size());
  if (namespacing) {
    const auto found = by_name_.find(key);
    return found == by_name_.end() ? Entries() : found->second;
  }
  const auto found = models.find(key);
  return found == models.end() ? Entries() : Entries{&found->second};
}

ModelDirectory::Entries ModelDirectory::Candidates(absl::string_view name) const {
  Entries all = AllNamed(name);
  const auto is_unloaded = [](const ModelEntry* entry) { return entry->unloaded; };
  if (!std::all_of(all.begin(), all.end(), is_unloaded)) std::erase_if(all, is_unloaded);
  return all;
}

absl::StatusOr<const ModelEntry*> ModelDirectory::FindEntry(absl::string_view name) const {
  if (!namespacing) {
    const auto it = models.find(std::string_view(name.data(), name.size()));
    if (it != models.end()) return &it->second;
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' is not found"));
  }
  const Entries found = Candidates(name);
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Request for unknown model: '", name, "' is not found"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("There are ", found.size(), " identifiers of model '", name,
                   "' in global map, model namespace must be provided to resolve ambiguity."));
}

const ModelEntry* ModelDirectory::FindMember(absl::string_view space,
                                             absl::string_view name) const {
  const auto at = space.empty() ? models.find(std::string_view(name.data(), name.size()))
                                : models.find(absl::StrCat(space, "::", name));
  const ModelEntry* const own = at == models.end() ? nullptr : &at->second;
  if (!namespacing || (own != nullptr && !own->unloaded)) return own;
  const Entries found = Candidates(name);
  return found.size() == 1 ? found[0] : own;
}

absl::StatusOr<std::shared_ptr<ManagedModel>> ModelDirectory::Find(absl::string_view name,
                                                                   int64_t version) const {
  ASSIGN_OR_RETURN(const ModelEntry* const entry, FindEntry(name));
  return FindVersion(*entry, name, version);
}

absl::StatusOr<std::shared_ptr<ManagedModel>> ModelDirectory::FindVersion(const ModelEntry& model,
                                                                          absl::string_view name,
                                                                          int64_t version) {
  const auto& versions = model.versions;
  if (versions.empty() && !model.looked_for_versions) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' is not found"));
  }
  if (version < 0) {
    for (auto entry = versions.rbegin(); entry != versions.rend(); ++entry) {
      if (entry->second.ready()) return entry->second.model();
    }
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' has no available versions"));
  }
  const auto entry = versions.find(version);
  if (entry == versions.end()) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' version ", version, " is not found"));
  }
  if (!entry->second.ready()) {
    return absl::UnavailableError(absl::StrCat("Request for unknown model: '", name, "' version ",
                                               version, " is not at ready state"));
  }
  return entry->second.model();
}

std::optional<std::vector<std::shared_ptr<ManagedModel>>> ModelDirectory::Expected() const {
  std::vector<std::shared_ptr<ManagedModel>> expected;
  for (const auto& [name, entry] : models) {
    // A model whose configuration could not be read does not make the server unready.
    if (entry.versions.empty() && entry.looked_for_versions) return std::nullopt;
    const bool serves = entry.serves();
    for (const auto& [version, v] : entry.versions) {
      switch (RoleInReadiness(v.state(), serves)) {
        case ReadinessRole::kAsked:
          expected.push_back(v.model());
          break;
        case ReadinessRole::kIgnored:
          break;
        case ReadinessRole::kMissing:
          return std::nullopt;
      }
    }
  }
  return expected;
}

std::shared_ptr<ManagedModel> ModelDirectory::FindSequence(absl::string_view name, int64_t version,
                                                           const CorrelationId& id) const {
  const absl::StatusOr<const ModelEntry*> entry = FindEntry(name);
  return entry.ok() ? FindSequence(**entry, version, id) : nullptr;
}

std::shared_ptr<ManagedModel> ModelDirectory::FindSequence(const ModelEntry& model, int64_t version,
                                                           const CorrelationId& id) {
  const auto lives_in = [&](const std::shared_ptr<ManagedModel>& candidate) {
    return candidate != nullptr && (version < 0 || candidate->config().version == version) &&
           candidate->HasSequence(id);
  };
  for (const auto& [number, entry] : model.versions) {
    if (lives_in(entry.model())) return entry.model();
  }
  for (const std::weak_ptr<ManagedModel>& draining : model.draining) {
    if (std::shared_ptr<ManagedModel> replaced = draining.lock(); lives_in(replaced)) {
      return replaced;
    }
  }
  return nullptr;
}

}  // namespace nereid
