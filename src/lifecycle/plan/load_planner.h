// The load planner: compares the serving models and the repositories with the requested changes,
// and decides which actions to take in which order. Pure: plain values in, plain values out.
#ifndef NEREID_LIFECYCLE_PLAN_LOAD_PLANNER_H_
#define NEREID_LIFECYCLE_PLAN_LOAD_PLANNER_H_

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
