// SPDX-License-Identifier: Apache-2.0
#include "server/on_demand_models.h"

#include <absl/algorithm/container.h>
#include <absl/strings/numbers.h>

#include <algorithm>
#include <utility>

#include "config/server_parameters.h"
#include "lifecycle/demand/process_memory.h"

namespace nereid {
namespace {

uint64_t StatedBytes(const CompiledModel& model) {
  uint64_t bytes = 0;
  const auto found = model.parameters.find(kMemoryBytesParameter);
  if (found == model.parameters.end() || !absl::SimpleAtoi(found->second, &bytes)) return 0;
  return bytes;
}

}  // namespace

std::set<std::string> OnDemandModels::Names() {
  std::set<std::string> names;
  for (const ModelId& id : models_.RepositoryModels()) names.insert(id.name);
  return names;
}

void OnDemandModels::AddUse(const ModelDirectory& directory, const ModelEntry& entry, Use* use) {
  for (const auto& [number, version] : entry.versions) {
    ManagedModel* const model = version.model().get();
    if (model == nullptr) continue;
    use->busy |= model->InFlight() > 0;
    use->last_used = std::max(use->last_used, model->last_used());
    if (!version.ready()) continue;
    for (const EnsembleStep& step : model->config().ensemble.steps) {
      const auto member = directory.models.find(step.model_name);
      if (member == directory.models.end() ||
          absl::c_linear_search(use->members, step.model_name)) {
        continue;
      }
      use->members.push_back(step.model_name);
      AddUse(directory, member->second, use);
    }
  }
}

DemandedModels::Use OnDemandModels::Look(const std::string& name) const {
  Use use;
  const ModelDirectory& directory = models_.Directory();
  const auto found = directory.models.find(name);
  if (found == directory.models.end()) return use;
  const ModelEntry& entry = found->second;
  use.serves = entry.serves();
  for (const auto& [number, version] : entry.versions) {
    use.leaving |= version.state() == VersionState::kDraining;
    if (version.ready()) use.stated_bytes += StatedBytes(version.model()->config());
  }
  AddUse(directory, entry, &use);
  return use;
}

void OnDemandModels::Load(const std::string& name, Done done) {
  models_.control()->Submit(
      {ModelChange::Kind::kLoad, name, {}}, /*client=*/nullptr,
      [done = std::move(done)](const absl::Status& status, bool /*begun*/) { done(status); });
}

void OnDemandModels::Unload(const std::string& name, Done done) {
  models_.control()->Submit(
      {ModelChange::Kind::kUnloadWithMembers, name, {}}, /*client=*/nullptr,
      [done = std::move(done)](const absl::Status& status, bool /*begun*/) { done(status); });
}

uint64_t OnDemandModels::ResidentBytes() const {
  ReturnFreedMemory();
  return ProcessTreeBytes("/proc");
}

}  // namespace nereid
