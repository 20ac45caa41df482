// SPDX-License-Identifier: Apache-2.0
// RepositoryAgent: a plug-in (libtritonrepoagent_<name>.so) that processes models before they are
// loaded; the object behind a TRITONREPOAGENT_Agent*. Immutable except for the plug-in's own state.
// RepositoryAgents: the agents in use. Thread-safe.
#ifndef NEREID_REPOSITORY_AGENT_LIBRARY_H_
#define NEREID_REPOSITORY_AGENT_LIBRARY_H_

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "plugin/plugin_library.h"
#include "triton/core/tritonrepoagent.h"

namespace nereid {

class RepositoryAgent {
 public:
  // Loads and initialises <directory>/<name>/libtritonrepoagent_<name>.so. Errors name the agent.
  static absl::StatusOr<std::shared_ptr<RepositoryAgent>> Load(const std::string& directory,
                                                               const std::string& name);
  // REQUIRES: no model uses the agent any more.
  ~RepositoryAgent();
  RepositoryAgent(const RepositoryAgent&) = delete;
  RepositoryAgent& operator=(const RepositoryAgent&) = delete;

  const std::string& name() const { return library_->name(); }
  // Calls the plug-in's function for one model; OK if it does not export that function. No
  // exception gets out.
  absl::Status ModelInitialize(TRITONREPOAGENT_AgentModel* model);
  absl::Status ModelFinalize(TRITONREPOAGENT_AgentModel* model);
  absl::Status ModelAction(TRITONREPOAGENT_AgentModel* model, TRITONREPOAGENT_ActionType action);

  void* state = nullptr;  // the plug-in's own

 private:
  explicit RepositoryAgent(std::unique_ptr<PluginLibrary> library) : library_(std::move(library)) {}
  absl::Status FindEntryPoints();

  const std::unique_ptr<PluginLibrary> library_;
  decltype(&TRITONREPOAGENT_Initialize) initialize_ = nullptr;
  decltype(&TRITONREPOAGENT_Finalize) finalize_ = nullptr;
  decltype(&TRITONREPOAGENT_ModelInitialize) model_initialize_ = nullptr;
  decltype(&TRITONREPOAGENT_ModelFinalize) model_finalize_ = nullptr;
  decltype(&TRITONREPOAGENT_ModelAction) model_action_ = nullptr;
  bool initialized_ = false;
};

class RepositoryAgents {
 public:
  explicit RepositoryAgents(std::string directory) : directory_(std::move(directory)) {}

  // The agent called `name`, loaded if it is not in use yet.
  absl::StatusOr<std::shared_ptr<RepositoryAgent>> Get(const std::string& name)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const std::string directory_;
  Mutex mu_;
  std::map<std::string, std::weak_ptr<RepositoryAgent>> agents_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_REPOSITORY_AGENT_LIBRARY_H_
