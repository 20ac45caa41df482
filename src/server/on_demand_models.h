// SPDX-License-Identifier: Apache-2.0
// OnDemandModels: the models of a ModelManager, as ModelDemand loads and unloads them. Thread-safe.
// Owned by the server.
#ifndef NEREID_SERVER_ON_DEMAND_MODELS_H_
#define NEREID_SERVER_ON_DEMAND_MODELS_H_

#include <cstdint>
#include <set>
#include <string>

#include "lifecycle/demand/model_demand.h"
#include "lifecycle/model_manager.h"

namespace nereid {

class OnDemandModels final : public DemandedModels {
 public:
  // `models` outlives the last call of any function.
  explicit OnDemandModels(ModelManager* models) : models_(*models) {}

  std::set<std::string> Names() override;
  Use Look(const std::string& name) const override;
  std::string Stamp(const std::string& name) const override { return models_.StampOf(name); }
  void Load(const std::string& name, Done done) override;
  void Unload(const std::string& name, Done done) override;
  uint64_t ResidentBytes() const override;

 private:
  // Adds what `name` is used for to `use`, its own members included.
  static void AddUse(const ModelDirectory& directory, const ModelEntry& entry, Use* use);

  ModelManager& models_;
};

}  // namespace nereid

#endif  // NEREID_SERVER_ON_DEMAND_MODELS_H_
