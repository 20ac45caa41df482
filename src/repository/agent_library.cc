// SPDX-License-Identifier: Apache-2.0
#include "repository/agent_library.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

TRITONREPOAGENT_Agent* Handle(RepositoryAgent* agent) {
  return reinterpret_cast<TRITONREPOAGENT_Agent*>(agent);
}

}  // namespace

absl::StatusOr<std::shared_ptr<RepositoryAgent>> RepositoryAgent::Load(const std::string& directory,
                                                                       const std::string& name) {
  const std::string file = absl::StrCat("libtritonrepoagent_", name, ".so");
  const std::optional<std::string> path = PluginLibrary::Find(directory, name, file);
  if (!path.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("unable to find '", file,
                                                   "' for repository agent '", name,
                                                   "'. Searched: ", directory, "/", name));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<PluginLibrary> library,
                   PluginLibrary::Load("repository agent", name, *path));
  std::shared_ptr<RepositoryAgent> agent(new RepositoryAgent(std::move(library)));
  RETURN_IF_ERROR(agent->FindEntryPoints());
  if (agent->initialize_ != nullptr) {
    RETURN_IF_ERROR(agent->library_->Run("TRITONREPOAGENT_Initialize",
                                         [&] { return agent->initialize_(Handle(agent.get())); }));
  }
  agent->initialized_ = true;
  LOG_INFO << "repository agent '" << name << "' from " << *path;
  return agent;
}

absl::Status RepositoryAgent::FindEntryPoints() {
  library_->Get("TRITONREPOAGENT_Initialize", &initialize_);
  library_->Get("TRITONREPOAGENT_Finalize", &finalize_);
  library_->Get("TRITONREPOAGENT_ModelInitialize", &model_initialize_);
  library_->Get("TRITONREPOAGENT_ModelFinalize", &model_finalize_);
  return library_->Require("TRITONREPOAGENT_ModelAction", &model_action_);
}

RepositoryAgent::~RepositoryAgent() {
  if (!initialized_ || finalize_ == nullptr) return;
  library_->Finalize("TRITONREPOAGENT_Finalize", [&] { return finalize_(Handle(this)); });
}

absl::Status RepositoryAgent::ModelInitialize(TRITONREPOAGENT_AgentModel* model) {
  if (model_initialize_ == nullptr) return absl::OkStatus();
  return library_->Run("TRITONREPOAGENT_ModelInitialize",
                       [&] { return model_initialize_(Handle(this), model); });
}

absl::Status RepositoryAgent::ModelFinalize(TRITONREPOAGENT_AgentModel* model) {
  if (model_finalize_ == nullptr) return absl::OkStatus();
  return library_->Run("TRITONREPOAGENT_ModelFinalize",
                       [&] { return model_finalize_(Handle(this), model); });
}

absl::Status RepositoryAgent::ModelAction(TRITONREPOAGENT_AgentModel* model,
                                          TRITONREPOAGENT_ActionType action) {
  return library_->Run("TRITONREPOAGENT_ModelAction",
                       [&] { return model_action_(Handle(this), model, action); });
}

absl::StatusOr<std::shared_ptr<RepositoryAgent>> RepositoryAgents::Get(const std::string& name) {
  // Loaded under the lock, so that concurrent loads of the same agent do not make two of it.
  MutexLock lock(&mu_);
  if (std::shared_ptr<RepositoryAgent> agent = agents_[name].lock()) return agent;
  ASSIGN_OR_RETURN(std::shared_ptr<RepositoryAgent> agent, RepositoryAgent::Load(directory_, name));
  agents_[name] = agent;
  return agent;
}

}  // namespace nereid
