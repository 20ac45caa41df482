// SPDX-License-Identifier: Apache-2.0
// AgentModel: one model as one of its repository agents sees it; the object behind a
// TRITONREPOAGENT_AgentModel*. AgentChain: all agents of a model, in the order of its
// configuration. Both are thread-compatible and perform one action at a time.
#ifndef NEREID_REPOSITORY_AGENT_MODEL_H_
#define NEREID_REPOSITORY_AGENT_MODEL_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/relations.h"
#include "filesystem/temp_directory.h"
#include "repository/agent_library.h"

namespace nereid {

class AgentModel {
 public:
  // The model is at `location` and its configuration there is `config_json`. Calls ModelInitialize.
  static absl::StatusOr<std::unique_ptr<AgentModel>> Make(std::shared_ptr<RepositoryAgent> agent,
                                                          RepositoryAgentSpec spec,
                                                          std::string location,
                                                          std::string config_json);
  // Performs the remaining actions, so that the agent sees the end of the model's life.
  ~AgentModel();
  AgentModel(const AgentModel&) = delete;
  AgentModel& operator=(const AgentModel&) = delete;

  // Calls the agent. INTERNAL if `action` must not follow the last one.
  absl::Status Act(TRITONREPOAGENT_ActionType action);
  bool ended_with(TRITONREPOAGENT_ActionType action) const { return last_ == action; }

  // ---- Queries and operations for the agent; see tritonrepoagent.h.
  const std::string& location() const { return location_; }
  const RepositoryAgentSpec& spec() const { return spec_; }
  const std::string& config_json() const { return config_json_; }
  absl::StatusOr<const char*> AcquireLocation();
  absl::Status ReleaseLocation(const std::string& location);
  absl::Status SetLocation(const std::string& location);
  void* state = nullptr;  // the agent's own

 private:
  AgentModel(std::shared_ptr<RepositoryAgent> agent, RepositoryAgentSpec spec, std::string location,
             std::string config_json)
      : agent_(std::move(agent)),
        spec_(std::move(spec)),
        location_(std::move(location)),
        config_json_(std::move(config_json)) {}

  const std::shared_ptr<RepositoryAgent> agent_;
  const RepositoryAgentSpec spec_;
  std::string location_;
  const std::string config_json_;
  std::unique_ptr<TempDirectory> acquired_;
  bool initialized_ = false;
  std::optional<TRITONREPOAGENT_ActionType> last_;     // completed or in progress
  std::optional<TRITONREPOAGENT_ActionType> current_;  // in progress
};

class AgentChain {
 public:
  // The configuration of the model at a location, as JSON; empty if there is none.
  using ReadConfig = std::function<std::string(const std::string& location)>;

  // Lets each agent prepare the model at `location`, where the previous agent left it. Returns the
  // error of the first agent that refuses; the agents before it are then told that the load failed.
  static absl::StatusOr<std::unique_ptr<AgentChain>> Load(
      RepositoryAgents* agents, const std::vector<RepositoryAgentSpec>& specs,
      const std::string& location, const ReadConfig& read_config);

  ~AgentChain();
  AgentChain(const AgentChain&) = delete;
  AgentChain& operator=(const AgentChain&) = delete;

  // The place where the last agent left the model.
  const std::string& location() const { return location_; }

  // Tells the agents how the load ended. Only the first call has an effect.
  void EndLoad(bool ok);
  // Tells the agents that the unload begins. Does nothing the second time, or if the load did not
  // succeed.
  void Unload();

 private:
  AgentChain() = default;

  std::vector<std::unique_ptr<AgentModel>> models_;
  std::string location_;
};

}  // namespace nereid

#endif  // NEREID_REPOSITORY_AGENT_MODEL_H_
