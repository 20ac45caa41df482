#include "lifecycle/model_directory.h"

#include <absl/strings/str_cat.h>

namespace nereid {

const char* ModelStateName(ModelState state) {
  switch (state) {
    case ModelState::kUnknown: return "UNKNOWN";
    case ModelState::kReady: return "READY";
    case ModelState::kUnavailable: return "UNAVAILABLE";
    case ModelState::kLoading: return "LOADING";
    case ModelState::kUnloading: return "UNLOADING";
  }
  return "UNKNOWN";
}

absl::StatusOr<std::shared_ptr<LoadedModel>> ModelDirectory::Find(absl::string_view name,
                                                                  int64_t version) const {
  const auto it = models.find(std::string_view(name.data(), name.size()));
  if (it == models.end()) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' is not found"));
  }
  const auto& versions = it->second.versions;
  if (version < 0) {
    for (auto entry = versions.rbegin(); entry != versions.rend(); ++entry) {
      if (entry->second.state == ModelState::kReady) return entry->second.model;
    }
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' has no available versions"));
  }
  const auto entry = versions.find(version);
  if (entry == versions.end()) {
    return absl::NotFoundError(absl::StrCat("Request for unknown model: '", name, "' version ",
                                            version, " is not found"));
  }
  if (entry->second.state != ModelState::kReady) {
    return absl::UnavailableError(absl::StrCat("Request for unknown model: '", name, "' version ",
                                               version, " is not at ready state"));
  }
  return entry->second.model;
}

std::shared_ptr<LoadedModel> ModelDirectory::FindSequence(absl::string_view name, int64_t version,
                                                          const CorrelationId& id) const {
  const auto it = models.find(std::string_view(name.data(), name.size()));
  if (it == models.end()) return nullptr;
  const auto lives_in = [&](const std::shared_ptr<LoadedModel>& model) {
    return model != nullptr && (version < 0 || model->config().version == version) &&
           model->HasSequence(id);
  };
  for (const auto& [number, entry] : it->second.versions) {
    if (lives_in(entry.model)) return entry.model;
  }
  for (const std::weak_ptr<LoadedModel>& draining : it->second.draining) {
    if (std::shared_ptr<LoadedModel> model = draining.lock(); lives_in(model)) return model;
  }
  return nullptr;
}

}  // namespace nereid
