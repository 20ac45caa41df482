// SPDX-License-Identifier: Apache-2.0
#include "backends/python/wait_graph.h"

#include <algorithm>
#include <utility>

namespace nereid_backend {

WaitGraph::Node::Node(WaitGraph* graph, std::string model)
    : graph_(graph), model_(std::move(model)) {
  const std::lock_guard lock(graph_->mu_);
  graph_->nodes_[model_].insert(this);
}

WaitGraph::Node::~Node() {
  const std::lock_guard lock(graph_->mu_);
  const auto found = graph_->nodes_.find(model_);
  found->second.erase(this);
  if (found->second.empty()) graph_->nodes_.erase(found);
}

WaitGraph& WaitGraph::Instance() {
  static WaitGraph graph;
  return graph;
}

bool WaitGraph::Begin(Node* node, Targets targets, Wait* wait) {
  const std::lock_guard lock(mu_);
  node->waits_.push_front(std::move(targets));
  *wait = {node, node->waits_.begin()};
  if (!Stuck(*node)) return true;
  node->waits_.pop_front();
  return false;
}

void WaitGraph::End(const Wait& wait) {
  const std::lock_guard lock(mu_);
  wait.node->waits_.erase(wait.at);
}

// The largest set of models in which every instance waits for one of the set: models that are not
// stuck are removed until nothing changes.
bool WaitGraph::Stuck(const Node& node) const {
  std::set<std::string> stuck;
  for (const auto& [model, nodes] : nodes_) stuck.insert(model);
  const auto waits_for_stuck = [&](const Node* one) {
    return std::any_of(one->waits_.begin(), one->waits_.end(), [&](const Targets& targets) {
      return std::any_of(targets.begin(), targets.end(),
                         [&](const std::string& target) { return stuck.count(target) > 0; });
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [model, nodes] : nodes_) {
      if (stuck.count(model) == 0 || std::all_of(nodes.begin(), nodes.end(), waits_for_stuck)) {
        continue;
      }
      stuck.erase(model);
      changed = true;
    }
    if (stuck.count(node.model_) == 0) return false;
  }
  return true;
}

}  // namespace nereid_backend
