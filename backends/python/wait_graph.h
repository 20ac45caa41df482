// WaitGraph: which instances of Python models wait, inside `execute`, for answers of which models.
// A circle of models whose instances all wait for each other would wait for ever; the request that
// would close it is answered by an error. Thread-safe.
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
  // What is waited for at a time: a model, or the models of which an ensemble consists.
  using Targets = std::vector<std::string>;

  // An instance, as long as this lives.
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
  // A wait of an instance. A value that is handed back to End.
  struct Wait {
    Node* node = nullptr;
    std::list<Targets>::iterator at;
  };

  // That of all models of this process.
  static WaitGraph& Instance();

  // Notes that `node` waits for `targets`. False, and nothing is noted, when it would wait for
  // ever.
  bool Begin(Node* node, Targets targets, Wait* wait);
  void End(const Wait& wait);

 private:
  // Whether all instances of `node`'s model wait for models of which the same is true.
  bool Stuck(const Node& node) const;

  std::mutex mu_;
  std::map<std::string, std::set<Node*>> nodes_;  // guarded by mu_; by model
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_WAIT_GRAPH_H_
