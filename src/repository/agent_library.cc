// SPDX-License-Identifier: Apache-2.0
#include "repository/agent_library.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <exception>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "base/crash_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "c_objects/error.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

TRITONREPOAGENT_Agent* Handle(RepositoryAgent* agent) {
  return reinterpret_cast<TRITONREPOAGENT_Agent*>(agent);
}

}  // namespace

template <typename Call>
absl::Status RepositoryAgent::Guarded(const char* function, const Call& call) const {
  const CrashContext context(name_.c_str(), "", function);
  try {
    return TakeCError(call());
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("repository agent '", name_, "' threw an exception in ",
                                            function, ": ", e.what()));
  } catch (...) {
    return absl::InternalError(
        absl::StrCat("repository agent '", name_, "' threw an unknown exception in ", function));
  }
}

absl::StatusOr<std::shared_ptr<RepositoryAgent>> RepositoryAgent::Load(const std::string& directory,
                                                                       const std::string& name) {
  const std::string file = absl::StrCat("libtritonrepoagent_", name, ".so");
  const fs::path folder = fs::path(directory) / name;
  std::error_code ignored;
  // A name with a slash would lead out of the directory.
  if (name.empty() || absl::StrContains(name, "/") || name == ".." ||
      !fs::is_regular_file(folder / file, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat("unable to find '", file,
                                                   "' for repository agent '", name,
                                                   "'. Searched: ", folder.string()));
  }
  absl::StatusOr<std::unique_ptr<SharedLibrary>> library =
      SharedLibrary::Open((folder / file).string());
  if (!library.ok()) {
    return absl::Status(library.status().code(), absl::StrCat("repository agent '", name,
                                                              "': ", library.status().message()));
  }
  std::shared_ptr<RepositoryAgent> agent(new RepositoryAgent(name, *std::move(library)));
  RETURN_IF_ERROR(agent->FindEntryPoints());
  if (agent->initialize_ != nullptr) {
    RETURN_IF_ERROR(agent->Guarded("TRITONREPOAGENT_Initialize",
                                   [&] { return agent->initialize_(Handle(agent.get())); }));
  }
  agent->initialized_ = true;
  LOG_INFO << "repository agent '" << name << "' from " << (folder / file).string();
  return agent;
}

absl::Status RepositoryAgent::FindEntryPoints() {
  const auto find = [&](auto* slot, const char* symbol) {
    *slot = library_->Function<std::remove_pointer_t<decltype(slot)>>(symbol);
  };
  find(&initialize_, "TRITONREPOAGENT_Initialize");
  find(&finalize_, "TRITONREPOAGENT_Finalize");
  find(&model_initialize_, "TRITONREPOAGENT_ModelInitialize");
  find(&model_finalize_, "TRITONREPOAGENT_ModelFinalize");
  find(&model_action_, "TRITONREPOAGENT_ModelAction");
  if (model_action_ != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("repository agent '", name_, "': library ", library_->path(),
                   " does not export TRITONREPOAGENT_ModelAction; is it an agent?"));
}

RepositoryAgent::~RepositoryAgent() {
  if (!initialized_ || finalize_ == nullptr) return;
  const absl::Status status =
      Guarded("TRITONREPOAGENT_Finalize", [&] { return finalize_(Handle(this)); });
  if (!status.ok()) {
    LOG_ERROR << "failed finalizing repository agent '" << name_ << "': " << status.message();
  }
}

absl::Status RepositoryAgent::ModelInitialize(TRITONREPOAGENT_AgentModel* model) {
  if (model_initialize_ == nullptr) return absl::OkStatus();
  return Guarded("TRITONREPOAGENT_ModelInitialize",
                 [&] { return model_initialize_(Handle(this), model); });
}

absl::Status RepositoryAgent::ModelFinalize(TRITONREPOAGENT_AgentModel* model) {
  if (model_finalize_ == nullptr) return absl::OkStatus();
  return Guarded("TRITONREPOAGENT_ModelFinalize",
                 [&] { return model_finalize_(Handle(this), model); });
}

absl::Status RepositoryAgent::ModelAction(TRITONREPOAGENT_AgentModel* model,
                                          TRITONREPOAGENT_ActionType action) {
  return Guarded("TRITONREPOAGENT_ModelAction",
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
