// SPDX-License-Identifier: Apache-2.0
// WaitGraph: records which instances of Python models wait, inside `execute`, for answers of which
// models. A cycle of models whose instances all wait for each other would wait forever; the request
// that would close the cycle is answered with an error. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_WAIT_GRAPH_H_
#define NEREID_BACKENDS_PYTHON_WAIT_GRAPH_H_

#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace nereid_backend {

class WaitGraph {
 public:
  // The target of one wait: a model, or the members of an ensemble.
  using Targets = std::vector<std::string>;

  // Represents an instance during its lifetime.
  class Node {
   public:
    Node(WaitGraph* graph, std::string model);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

   private:
    friend class WaitGraph;
    WaitGraph* const graph_;
    const std::string model_;
    std::list<Targets> waits_;  // guarded by the graph's mu_
  };
  // A wait of an instance. A value to be passed to End.
  struct Wait {
    Node* node = nullptr;
    std::list<Targets>::iterator at;
  };

  // The one graph for all models of this process.
  static WaitGraph& Instance();

  // Records that `node` waits for `targets`. False, without recording it, if it would wait forever.
  bool Begin(Node* node, Targets targets, Wait* wait);
  void End(const Wait& wait);

 private:
  // Whether all instances of `node`'s model wait for models for which the same holds.
  bool Stuck(const Node& node) const;

  std::mutex mu_;
  std::map<std::string, std::set<Node*>> nodes_;  // guarded by mu_; by model
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_WAIT_GRAPH_H_
