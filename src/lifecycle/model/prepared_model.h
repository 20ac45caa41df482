// SPDX-License-Identifier: Apache-2.0
// PreparedModel: a model that was read and is to be loaded. ModelSource: what it is loaded from,
// unless that is the repository itself.
#ifndef NEREID_LIFECYCLE_MODEL_PREPARED_MODEL_H_
#define NEREID_LIFECYCLE_MODEL_PREPARED_MODEL_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/load_config.h"
#include "config/relations.h"
#include "filesystem/temp_directory.h"
#include "model/model_id.h"
#include "repository/agent_model.h"
#include "repository/snapshot.h"

namespace nereid {

// The source of a model that is not loaded from the repository itself: the files of a load request,
// or copies of those in cloud storage, and the repository agents that accompany the model. A source
// ends explicitly: when the load and all versions that it made have left, the last one to leave
// tells the agents of the model's end and removes the files, on its own thread. No lock may be held
// then.
//
// Join and Leave are thread-safe. EndLoad and BeginUnload are called by the thread that works on
// the model; ModelManager ensures that there is one at a time.
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

// A model as it is to be loaded. Immutable.
struct PreparedModel {
  ModelId id;
  ModelFiles files;       // in the repository
  std::string model_dir;  // the directory of its files: in the repository, or in `source`
  absl::StatusOr<ParsedConfig> config = absl::UnknownError("");  // or why there is none
  std::vector<EnsembleMember> members;
  bool from_request_files = false;  // the load request brought all its files
  // The configuration of a load request that replaces the repository's, if the files are the
  // repository's. In force until the files change or the model is unloaded.
  std::optional<std::string> config_override;
  // Keeps model_dir; null if the repository does. The loader of the model calls Leave in the end.
  std::shared_ptr<ModelSource> source;

  std::vector<std::string> MemberNames() const;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_PREPARED_MODEL_H_
