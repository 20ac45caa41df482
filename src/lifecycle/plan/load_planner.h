// SPDX-License-Identifier: Apache-2.0
// The load planner: compares the serving models and the repositories with the requested changes,
// and decides which actions to take in which order. Pure: plain values in, plain values out.
#ifndef NEREID_LIFECYCLE_PLAN_LOAD_PLANNER_H_
#define NEREID_LIFECYCLE_PLAN_LOAD_PLANNER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/model_id.h"
#include "repository/snapshot.h"

namespace nereid {

// A model that was loaded, or whose load was attempted.
struct RunningModel {
  ModelFiles files;                  // in the repository, at the last attempt
  std::vector<std::string> members;  // names of the models that this model uses
  bool serving = false;              // a version of the model is ready
  bool wanted = false;               // not unloaded on purpose
  bool on_request = false;           // loaded by its name, not only as a member
  bool from_request_files = false;   // the load request brought all its files
  bool failed = false;               // the last attempt failed; an older version may still serve
};

// A model in the repositories.
struct FoundModel {
  ModelFiles files;
  std::vector<std::string> members;
};

struct LoadIntent {
  enum class Kind {
    kSync,    // follow the repositories
    kLoad,    // load `model`, and the members that it needs
    kUnload,  // unload `model`
  };
  Kind kind = Kind::kSync;
  ModelId model;
  bool overridden = false;    // kLoad: has parameters, so the model counts as changed
  bool with_members = false;  // kUnload: also unload members that were loaded only for this model
};

struct PlannedAction {
  enum class Kind { kLoad, kUnload };
  Kind kind = Kind::kLoad;
  ModelId model;
  bool on_request = false;  // kLoad: the model was requested by its name
  // kLoad: why the model cannot be loaded. kUnload: why it is unloaded, unless on purpose.
  std::string reason;
  std::vector<size_t> after;  // actions that must end first, all with smaller indices

  friend bool operator==(const PlannedAction&, const PlannedAction&) = default;
};

inline bool IsLoad(const PlannedAction& action) {
  return action.kind == PlannedAction::Kind::kLoad;
}

// Which ensembles use which models as members. Immutable.
class DependencyGraph {
 public:
  // `used_names`: for each model the names of the models that it uses; most models use none. A name
  // means the model in the user's own repository, or else the only model of that name.
  explicit DependencyGraph(const std::map<ModelId, std::vector<std::string>>& used_names);

  // The models that `id` uses, directly or through others.
  const std::set<ModelId>& Members(const ModelId& id) const;
  std::set<ModelId> AllMembers(const ModelId& id) const;
  // The models that use `id`, directly or through others.
  const std::set<ModelId>& Users(const ModelId& id) const;
  std::set<ModelId> AllUsers(const ModelId& id) const;

  // INVALID_ARGUMENT where a model that `id` uses is unknown or ambiguous, or uses `id` in turn.
  absl::Status Check(const ModelId& id) const;

  // `ids` with members before their users, otherwise in the order of ids. Models that use one
  // another in a circle may come in any order.
  std::vector<ModelId> InOrder(const std::set<ModelId>& ids) const;

 private:
  using Edges = std::map<ModelId, std::set<ModelId>>;
  static const std::set<ModelId>& At(const Edges& edges, const ModelId& id);
  static std::set<ModelId> Closure(const Edges& edges, const ModelId& id);
  // A model on the way of a depth-first search, and the member to which the search goes next.
  struct Step {
    const ModelId* model;
    std::set<ModelId>::const_iterator next;
  };
  Step StepAt(const ModelId& id) const { return {&id, Members(id).begin()}; }

  Edges members_;
  Edges users_;
  std::map<ModelId, std::set<std::string>> missing_;  // names that stand for no model, or several
};

struct LoadInput {
  std::map<ModelId, RunningModel> running;
  std::map<ModelId, FoundModel> found;
  std::set<std::string> ambiguous;  // see RepositorySnapshot
  std::vector<LoadIntent> intents;
};

// The actions in an order in which they could be done one by one. Actions that do not wait for one
// another may run at the same time. A model that has not changed since it was last loaded gets no
// action. An ensemble is checked again when a member changes: it loads after the member, and
// unloads before the member.
std::vector<PlannedAction> PlanLoads(const LoadInput& input);

// `actions` without those on `models`; no remaining action waits for the ones left out.
std::vector<PlannedAction> WithoutModels(std::vector<PlannedAction> actions,
                                         const std::set<ModelId>& models);

// Only the actions on `models`. They wait for one another as before.
std::vector<PlannedAction> OnlyModels(std::vector<PlannedAction> actions,
                                      const std::set<ModelId>& models);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_PLAN_LOAD_PLANNER_H_
