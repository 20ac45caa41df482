// DependencyGraph: which ensembles use which models as members. Pure. Immutable.
#ifndef NEREID_LIFECYCLE_PLAN_DEPENDENCY_GRAPH_H_
#define NEREID_LIFECYCLE_PLAN_DEPENDENCY_GRAPH_H_

#include <absl/status/status.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/model_id.h"

namespace nereid {

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

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_PLAN_DEPENDENCY_GRAPH_H_
