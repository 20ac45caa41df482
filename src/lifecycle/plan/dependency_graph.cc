#include "lifecycle/plan/dependency_graph.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <vector>

namespace nereid {

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

}  // namespace nereid
