// ModelSource: what a model is loaded from when that is not the repository itself: the files of a
// load request, and the repository agents that look after it. Ends explicitly: when the load and
// every version that came of it have left, the agents see the model's end and the files are
// removed, there and then, on the thread of the one that leaves last. No lock may be held then.
//
// Join and Leave are thread-safe. EndLoad and BeginUnload are called by whoever works on the model:
// one at a time, as ModelManager takes care.
#ifndef NEREID_LIFECYCLE_MODEL_SOURCE_H_
#define NEREID_LIFECYCLE_MODEL_SOURCE_H_

#include <atomic>
#include <memory>
#include <string>

#include "filesystem/temp_directory.h"
#include "repository/agent_model.h"

namespace nereid {

class ModelSource {
 public:
  // Both may be null. The load is the first one that uses it.
  ModelSource(std::unique_ptr<TempDirectory> files, std::unique_ptr<AgentChain> agents)
      : files_(std::move(files)), agents_(std::move(agents)) {}
  // Ends a source whose model was read and never loaded.
  ~ModelSource();
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;

  // A version uses it, too. REQUIRES: the load has not left.
  void Join() { users_.fetch_add(1, std::memory_order_relaxed); }
  // The load, or a version that joined, is done with it. The last one ends it.
  void Leave() noexcept;

  // Tells the agents how the load has ended. Once. What keeps it from that is logged.
  void EndLoad(bool ok) noexcept;
  // Tells the agents that the model goes, the first time. The same.
  void BeginUnload() noexcept;

 private:
  void End() noexcept;

  std::unique_ptr<TempDirectory> files_;  // null once ended, or none
  std::unique_ptr<AgentChain> agents_;    // null once ended, or none
  std::atomic<int> users_{1};
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_SOURCE_H_
