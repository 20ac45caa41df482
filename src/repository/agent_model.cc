// SPDX-License-Identifier: Apache-2.0
#include "repository/agent_model.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

const char* ActionName(TRITONREPOAGENT_ActionType action) {
  switch (action) {
    case TRITONREPOAGENT_ACTION_LOAD:
      return "TRITONREPOAGENT_ACTION_LOAD";
    case TRITONREPOAGENT_ACTION_LOAD_COMPLETE:
      return "TRITONREPOAGENT_ACTION_LOAD_COMPLETE";
    case TRITONREPOAGENT_ACTION_LOAD_FAIL:
      return "TRITONREPOAGENT_ACTION_LOAD_FAIL";
    case TRITONREPOAGENT_ACTION_UNLOAD:
      return "TRITONREPOAGENT_ACTION_UNLOAD";
    case TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE:
      return "TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE";
  }
  return "unknown";
}

bool MayFollow(TRITONREPOAGENT_ActionType last, TRITONREPOAGENT_ActionType next) {
  switch (last) {
    case TRITONREPOAGENT_ACTION_LOAD:
      return next == TRITONREPOAGENT_ACTION_LOAD_COMPLETE ||
             next == TRITONREPOAGENT_ACTION_LOAD_FAIL;
    case TRITONREPOAGENT_ACTION_LOAD_COMPLETE:
      return next == TRITONREPOAGENT_ACTION_UNLOAD;
    case TRITONREPOAGENT_ACTION_UNLOAD:
      return next == TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE;
    default:
      return false;
  }
}

TRITONREPOAGENT_AgentModel* Handle(AgentModel* model) {
  return reinterpret_cast<TRITONREPOAGENT_AgentModel*>(model);
}

void LogFailure(const AgentModel& model, const absl::Status& status) {
  if (status.ok()) return;
  LOG_ERROR << "repository agent '" << model.spec().name << "': " << status.message();
}

}  // namespace

absl::StatusOr<std::unique_ptr<AgentModel>> AgentModel::Make(std::shared_ptr<RepositoryAgent> agent,
                                                             RepositoryAgentSpec spec,
                                                             std::string location,
                                                             std::string config_json) {
  std::unique_ptr<AgentModel> model(new AgentModel(std::move(agent), std::move(spec),
                                                   std::move(location), std::move(config_json)));
  RETURN_IF_ERROR(model->agent_->ModelInitialize(Handle(model.get())));
  model->initialized_ = true;
  return model;
}

AgentModel::~AgentModel() {
  if (last_ == TRITONREPOAGENT_ACTION_LOAD) {
    LogFailure(*this, Act(TRITONREPOAGENT_ACTION_LOAD_FAIL));
  }
  if (last_ == TRITONREPOAGENT_ACTION_LOAD_COMPLETE) {
    LogFailure(*this, Act(TRITONREPOAGENT_ACTION_UNLOAD));
  }
  if (last_ == TRITONREPOAGENT_ACTION_UNLOAD) {
    LogFailure(*this, Act(TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE));
  }
  if (initialized_) LogFailure(*this, agent_->ModelFinalize(Handle(this)));
}

absl::Status AgentModel::Act(TRITONREPOAGENT_ActionType action) {
  if (!last_.has_value() && action != TRITONREPOAGENT_ACTION_LOAD) {
    return absl::InternalError(
        absl::StrCat("Unexpected lifecycle start state ", ActionName(action)));
  }
  if (last_.has_value() && !MayFollow(*last_, action)) {
    return absl::InternalError(absl::StrCat("Unexpected lifecycle state transition from ",
                                            ActionName(*last_), " to ", ActionName(action)));
  }
  last_ = current_ = action;
  absl::Status status = agent_->ModelAction(Handle(this), action);
  current_.reset();
  return status;
}

absl::StatusOr<const char*> AgentModel::AcquireLocation() {
  if (acquired_ == nullptr) {
    ASSIGN_OR_RETURN(acquired_, TempDirectory::Make());
  }
  return acquired_->path().c_str();
}

absl::Status AgentModel::ReleaseLocation(const std::string& location) {
  if (acquired_ == nullptr || acquired_->path() != location) {
    return absl::UnavailableError("No mutable location to be deleted");
  }
  acquired_.reset();
  return absl::OkStatus();
}

absl::Status AgentModel::SetLocation(const std::string& location) {
  if (current_ != TRITONREPOAGENT_ACTION_LOAD) {
    return absl::InvalidArgumentError(absl::StrCat(
        "location can only be updated during TRITONREPOAGENT_ACTION_LOAD, current action type is ",
        current_.has_value() ? ActionName(*current_) : "not set"));
  }
  location_ = location;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<AgentChain>> AgentChain::Load(
    RepositoryAgents* agents, const std::vector<RepositoryAgentSpec>& specs,
    const std::string& location, const ReadConfig& read_config) {
  std::unique_ptr<AgentChain> chain(new AgentChain);
  chain->location_ = location;
  for (const RepositoryAgentSpec& spec : specs) {
    ASSIGN_OR_RETURN(std::shared_ptr<RepositoryAgent> agent, agents->Get(spec.name));
    ASSIGN_OR_RETURN(
        std::unique_ptr<AgentModel> model,
        AgentModel::Make(std::move(agent), spec, chain->location_, read_config(chain->location_)));
    chain->models_.push_back(std::move(model));
    RETURN_IF_ERROR(chain->models_.back()->Act(TRITONREPOAGENT_ACTION_LOAD));
    chain->location_ = chain->models_.back()->location();
  }
  return chain;
}

AgentChain::~AgentChain() {
  while (!models_.empty()) models_.pop_back();  // the last agent ends first
}

void AgentChain::EndLoad(bool ok) {
  const TRITONREPOAGENT_ActionType action =
      ok ? TRITONREPOAGENT_ACTION_LOAD_COMPLETE : TRITONREPOAGENT_ACTION_LOAD_FAIL;
  for (auto model = models_.rbegin(); model != models_.rend(); ++model) {
    if (!(*model)->ended_with(TRITONREPOAGENT_ACTION_LOAD)) continue;
    LogFailure(**model, (*model)->Act(action));
  }
}

void AgentChain::Unload() {
  for (const auto& model : models_) {
    if (!model->ended_with(TRITONREPOAGENT_ACTION_LOAD_COMPLETE)) continue;
    LogFailure(*model, model->Act(TRITONREPOAGENT_ACTION_UNLOAD));
  }
}

}  // namespace nereid
