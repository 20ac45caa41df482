// ModelSource: the source of a model that is not loaded from the repository itself: the files of a
// load request, and the repository agents that accompany the model. A source ends explicitly: when
// the load and all versions that it made have left, the last one to leave tells the agents of the
// model's end and removes the files, on its own thread. No lock may be held then.
//
// Join and Leave are thread-safe. EndLoad and BeginUnload are called by the thread that works on
// the model; ModelManager ensures that there is one at a time.
#ifndef NEREID_LIFECYCLE_MODEL_MODEL_SOURCE_H_
#define NEREID_LIFECYCLE_MODEL_MODEL_SOURCE_H_

#include <atomic>
#include <memory>
#include <string>

#include "filesystem/temp_directory.h"
#include "repository/agent_model.h"

namespace nereid {

class ModelSource {
 public:
  // Both may be null. The load is the source's first user.
  ModelSource(std::unique_ptr<TempDirectory> files, std::unique_ptr<AgentChain> agents)
      : files_(std::move(files)), agents_(std::move(agents)) {}
  // Ends a source whose model was read and never loaded.
  ~ModelSource();
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;

  // Adds a version as a user. REQUIRES: the load has not left.
  void Join() { users_.fetch_add(1, std::memory_order_relaxed); }
  // Removes the load, or a version that joined. The last user ends the source.
  void Leave() noexcept;

  // Tells the agents how the load has ended. Called once. A failure to tell them is logged.
  void EndLoad(bool ok) noexcept;
  // The first call tells the agents that the model is being unloaded. A failure to tell them is
  // logged.
  void BeginUnload() noexcept;

 private:
  void End() noexcept;

  std::unique_ptr<TempDirectory> files_;  // null if there are none, or once the source has ended
  std::unique_ptr<AgentChain> agents_;    // null if there are none, or once the source has ended
  std::atomic<int> users_{1};
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_MODEL_SOURCE_H_
