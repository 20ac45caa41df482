// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/plan/load_planner.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace nereid {

// ---- Dependencies

DependencyGraph::DependencyGraph(const std::map<ModelId, std::vector<std::string>>& used_names) {
  std::map<std::string, std::vector<ModelId>> by_name;
  for (const auto& [id, names] : used_names) by_name[id.name].push_back(id);
  for (const auto& [user, names] : used_names) {
    for (const std::string& name : names) {
      const ModelId own{user.space, name};
      const std::vector<ModelId>& candidates = by_name[name];
      if (used_names.count(own) > 0) {
        members_[user].insert(own);
        users_[own].insert(user);
      } else if (candidates.size() == 1) {
        members_[user].insert(candidates[0]);
        users_[candidates[0]].insert(user);
      } else {
        missing_[user].insert(name);
      }
    }
  }
}

const std::set<ModelId>& DependencyGraph::At(const Edges& edges, const ModelId& id) {
  static const auto* const kNone = new std::set<ModelId>;
  const auto it = edges.find(id);
  return it == edges.end() ? *kNone : it->second;
}

std::set<ModelId> DependencyGraph::Closure(const Edges& edges, const ModelId& id) {
  std::set<ModelId> closure;
  std::vector<ModelId> open = {id};
  while (!open.empty()) {
    const ModelId next = open.back();
    open.pop_back();
    for (const ModelId& other : At(edges, next)) {
      if (closure.insert(other).second) open.push_back(other);
    }
  }
  return closure;
}

const std::set<ModelId>& DependencyGraph::Members(const ModelId& id) const {
  return At(members_, id);
}
const std::set<ModelId>& DependencyGraph::Users(const ModelId& id) const { return At(users_, id); }
std::set<ModelId> DependencyGraph::AllMembers(const ModelId& id) const {
  return Closure(members_, id);
}
std::set<ModelId> DependencyGraph::AllUsers(const ModelId& id) const { return Closure(users_, id); }

absl::Status DependencyGraph::Check(const ModelId& id) const {
  if (const auto missing = missing_.find(id); missing != missing_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("ensemble ", id.name, " contains models that are not available or ambiguous: ",
                     absl::StrJoin(missing->second, ", ")));
  }
  // A depth-first search for a way from `id` back to itself. Visits every model once. Not
  // recursive: ensembles of ensembles may be as deep as there are models.
  std::set<ModelId> seen;
  std::vector<Step> way = {StepAt(id)};
  const ModelId* back = nullptr;
  while (!way.empty() && back == nullptr) {
    Step& last = way.back();
    if (last.next == Members(*last.model).end()) {
      way.pop_back();
    } else if (const ModelId& next = *last.next++; next == id) {
      back = last.model;
    } else if (seen.insert(next).second) {
      way.push_back(StepAt(next));
    }
  }
  if (back == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("circular dependency between ensembles: ", id.name,
                                                 " -> ... -> ", back->name, " -> ", id.name));
}

std::vector<ModelId> DependencyGraph::InOrder(const std::set<ModelId>& ids) const {
  std::vector<ModelId> order;
  std::set<ModelId> seen;
  std::vector<Step> way;
  for (const ModelId& id : ids) {
    if (seen.insert(id).second) way.push_back(StepAt(id));
    while (!way.empty()) {
      Step& last = way.back();
      if (last.next == Members(*last.model).end()) {
        if (ids.count(*last.model) > 0) order.push_back(*last.model);
        way.pop_back();
      } else if (const ModelId& next = *last.next++; seen.insert(next).second) {
        way.push_back(StepAt(next));
      }
    }
  }
  return order;
}

// ---- Plans

namespace {

using Unloads = std::map<ModelId, std::string>;  // value: why, unless on purpose

// The members of every model but `gone`: of those that were found, and of those that are wanted
// although they were not found.
std::map<ModelId, std::vector<std::string>> UsedNames(const LoadInput& input, const Unloads& gone) {
  std::map<ModelId, std::vector<std::string>> names;
  for (const auto& [id, model] : input.running) {
    if (model.wanted && gone.count(id) == 0) names[id] = model.members;
  }
  for (const auto& [id, model] : input.found) {
    if (gone.count(id) == 0) names[id] = model.members;
  }
  return names;
}

// Makes one plan.
class Planner {
 public:
  explicit Planner(const LoadInput& input) : input_(input), graph_(UsedNames(input, {})) {}

  std::vector<PlannedAction> Plan() {
    for (const LoadIntent& intent : input_.intents) Apply(intent);
    if (!unload_.empty()) later_.emplace(UsedNames(input_, unload_));
    AddUsers();
    std::vector<PlannedAction> actions;
    AddUnloads(&actions);
    AddLoads(&actions);
    return actions;
  }

 private:
  const RunningModel* Running(const ModelId& id) const {
    const auto it = input_.running.find(id);
    return it == input_.running.end() ? nullptr : &it->second;
  }
  bool Serves(const ModelId& id) const {
    const RunningModel* running = Running(id);
    return running != nullptr && running->serving;
  }
  bool IsWanted(const ModelId& id) const {
    const RunningModel* running = Running(id);
    return running != nullptr && running->wanted;
  }

  void Apply(const LoadIntent& intent) {
    switch (intent.kind) {
      case LoadIntent::Kind::kSync:
        Sync();
        break;
      case LoadIntent::Kind::kLoad:
        Load(intent);
        break;
      case LoadIntent::Kind::kUnload:
        Unload(intent);
        break;
    }
  }

  void Sync() {
    for (const auto& [id, model] : input_.found) {
      const RunningModel* running = Running(id);
      if (running == nullptr || !running->wanted || !(running->files == model.files)) {
        load_[id] = true;
      }
    }
    for (const auto& [id, model] : input_.running) {
      if (!model.wanted || input_.found.count(id) > 0) continue;
      unload_[id] = input_.ambiguous.count(id.name) > 0 ? kAmbiguousReason : "";
    }
  }

  void Load(const LoadIntent& intent) {
    const RunningModel* running = Running(intent.model);
    const auto found = input_.found.find(intent.model);
    const bool same = running != nullptr && running->serving && !running->from_request_files &&
                      !running->failed && !intent.overridden && found != input_.found.end() &&
                      running->files == found->second.files;
    if (!same) load_[intent.model] = true;
    for (const ModelId& member : graph_.AllMembers(intent.model)) {
      if (!Serves(member) && input_.found.count(member) > 0) load_.emplace(member, false);
    }
  }

  void Unload(const LoadIntent& intent) {
    unload_[intent.model] = "";
    if (!intent.with_members) return;
    // Users come first: a member is unloaded if all its users are.
    const std::set<ModelId> all = graph_.AllMembers(intent.model);
    std::vector<ModelId> order = graph_.InOrder(all);
    std::reverse(order.begin(), order.end());
    for (const ModelId& member : order) {
      const RunningModel* running = Running(member);
      if (running == nullptr || running->on_request) continue;
      const std::set<ModelId>& users = graph_.Users(member);
      const bool used = std::any_of(users.begin(), users.end(), [&](const ModelId& user) {
        return IsWanted(user) && unload_.count(user) == 0;
      });
      if (!used) unload_[member] = "";
    }
  }

  // Adds the ensembles whose members change.
  void AddUsers() {
    std::set<ModelId> users;
    for (const auto& [id, on_request] : load_) users.merge(graph_.AllUsers(id));
    for (const ModelId& user : users) {
      if (IsWanted(user) && unload_.count(user) == 0) load_.emplace(user, false);
    }
    users.clear();
    for (const auto& [id, reason] : unload_) users.merge(graph_.AllUsers(id));
    for (const ModelId& user : graph_.InOrder(users)) {
      // An ensemble that is to be loaded anyway finds out then whether a member is missing.
      if (!IsWanted(user) || unload_.count(user) > 0 || load_.count(user) > 0) continue;
      if (HasMembers(user)) {
        load_.emplace(user, false);  // of another namespace, from now on
      } else {
        broken_.insert(user);
      }
    }
  }

  // Whether the members of `user` are still there after the unloads.
  bool HasMembers(const ModelId& user) const {
    const std::set<ModelId>& members = Later().Members(user);
    return Later().Check(user).ok() &&
           std::none_of(members.begin(), members.end(),
                        [this](const ModelId& member) { return broken_.count(member) > 0; });
  }

  void AddUnloads(std::vector<PlannedAction>* actions) {
    std::set<ModelId> all = broken_;
    for (const auto& [id, reason] : unload_) all.insert(id);
    std::vector<ModelId> order = graph_.InOrder(all);
    std::reverse(order.begin(), order.end());
    for (const ModelId& id : order) {
      const auto reason = unload_.find(id);
      PlannedAction action;
      action.kind = PlannedAction::Kind::kUnload;
      action.model = id;
      action.reason = reason == unload_.end() ? WhyBroken(id) : reason->second;
      Add(std::move(action), graph_.Users(id), actions);
    }
  }

  std::string WhyBroken(const ModelId& id) const {
    for (const ModelId& member : graph_.Members(id)) {
      if (unload_.count(member) == 0 && broken_.count(member) == 0) continue;
      return absl::StrCat("ensemble '", id.name, "' depends on '", member.name,
                          "' which has no loaded version.");
    }
    return "";
  }

  void AddLoads(std::vector<PlannedAction>* actions) {
    std::set<ModelId> all;
    for (const auto& [id, on_request] : load_) all.insert(id);
    for (const ModelId& id : Later().InOrder(all)) {
      PlannedAction action;
      action.model = id;
      action.on_request = load_.at(id);
      action.reason = std::string(Later().Check(id).message());
      std::set<ModelId> members = graph_.Members(id);
      members.insert(Later().Members(id).begin(), Later().Members(id).end());
      Add(std::move(action), members, actions);
    }
  }

  // Appends `action`. It has to wait for the actions of `others` that were appended before.
  void Add(PlannedAction action, const std::set<ModelId>& others,
           std::vector<PlannedAction>* actions) {
    for (const ModelId& other : others) {
      const auto it = index_.find(other);
      if (it != index_.end()) action.after.push_back(it->second);
    }
    std::sort(action.after.begin(), action.after.end());
    index_[action.model] = actions->size();
    actions->push_back(std::move(action));
  }

  const DependencyGraph& Later() const { return later_.has_value() ? *later_ : graph_; }

  const LoadInput& input_;
  const DependencyGraph graph_;
  std::optional<DependencyGraph> later_;  // when the unloads are done; none: as graph_
  std::map<ModelId, bool> load_;          // value: asked for by its name
  Unloads unload_;
  std::set<ModelId> broken_;         // unloaded because a member is unloaded
  std::map<ModelId, size_t> index_;  // of the last action of each model
};

}  // namespace

std::vector<PlannedAction> PlanLoads(const LoadInput& input) { return Planner(input).Plan(); }

std::vector<PlannedAction> WithoutModels(std::vector<PlannedAction> actions,
                                         const std::set<ModelId>& models) {
  std::vector<PlannedAction> kept;
  std::map<size_t, size_t> places;  // old index to new index
  for (size_t i = 0; i < actions.size(); ++i) {
    PlannedAction& action = actions[i];
    if (models.count(action.model) > 0) continue;
    std::vector<size_t> after;
    for (const size_t other : action.after) {
      if (const auto place = places.find(other); place != places.end()) {
        after.push_back(place->second);
      }
    }
    action.after = std::move(after);
    places[i] = kept.size();
    kept.push_back(std::move(action));
  }
  return kept;
}

std::vector<PlannedAction> OnlyModels(std::vector<PlannedAction> actions,
                                      const std::set<ModelId>& models) {
  std::set<ModelId> others;
  for (const PlannedAction& action : actions) {
    if (models.count(action.model) == 0) others.insert(action.model);
  }
  return WithoutModels(std::move(actions), others);
}

}  // namespace nereid
