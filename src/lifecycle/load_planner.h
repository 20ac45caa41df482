// The load planner: from what serves, what lies in the repositories and what somebody wants, to
// what is to be done and in which order. Pure: plain values in, plain values out.
#ifndef NEREID_LIFECYCLE_LOAD_PLANNER_H_
#define NEREID_LIFECYCLE_LOAD_PLANNER_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/model_id.h"
#include "repository/snapshot.h"

namespace nereid {

// A model that was loaded, or that somebody tried to load.
struct RunningModel {
  ModelFiles files;                  // in the repository, at the last attempt
  std::vector<std::string> members;  // names of the models that it uses
  bool serving = false;              // a version of it is ready
  bool wanted = false;               // not unloaded on purpose
  bool on_request = false;           // loaded by its name, not only as a member
  bool from_request_files = false;   // the load request brought all its files
  bool failed = false;               // the last attempt did, whatever serves
};

// A model in the repositories.
struct FoundModel {
  ModelFiles files;
  std::vector<std::string> members;
};

struct LoadIntent {
  enum class Kind {
    kSync,    // be as the repositories are
    kLoad,    // load `model`, and the members that it needs
    kUnload,  // unload `model`
  };
  Kind kind = Kind::kSync;
  ModelId model;
  bool overridden = false;    // kLoad: with parameters, so that it has changed in any case
  bool with_members = false;  // kUnload: and members that are there only for it
};

struct PlannedAction {
  enum class Kind { kLoad, kUnload };
  Kind kind = Kind::kLoad;
  ModelId model;
  bool on_request = false;  // kLoad: it was asked for by its name
  // kLoad: why it cannot be loaded. kUnload: why that is, unless on purpose.
  std::string reason;
  std::vector<size_t> after;  // actions that have to end first, all with smaller indices

  friend bool operator==(const PlannedAction&, const PlannedAction&) = default;
};

struct LoadInput {
  std::map<ModelId, RunningModel> running;
  std::map<ModelId, FoundModel> found;
  std::set<std::string> ambiguous;  // see RepositorySnapshot
  std::vector<LoadIntent> intents;
};

// Actions in an order in which they could be done one by one; those that do not wait for one
// another may run at the same time. A model that is as it was when it was last loaded gets none.
// Ensembles are checked again when a model changes that they use: they load after it, and unload
// before it.
std::vector<PlannedAction> PlanLoads(const LoadInput& input);

// Without the actions on `models`, which nothing waits for any more.
std::vector<PlannedAction> WithoutModels(std::vector<PlannedAction> actions,
                                         const std::set<ModelId>& models);

// Only the actions on `models`, which wait for one another as before.
std::vector<PlannedAction> OnlyModels(std::vector<PlannedAction> actions,
                                      const std::set<ModelId>& models);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_PLANNER_H_
