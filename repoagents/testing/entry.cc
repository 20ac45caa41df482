// SPDX-License-Identifier: Apache-2.0
// A repository agent for tests; see README.md of repoagents. Unit tests use it under the names
// `fake` and `second`. It records the calls in a journal, the file that the parameter "journal"
// names: one "<agent>: <what>" per line. Further parameters: "refuse" (LOAD fails with this text),
// "relocate" (LOAD moves the model to a separate directory with a file of this name and a version
// 1), "whole" (the journal also has the end of the agent itself).
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>

#include "triton/core/tritonrepoagent.h"

#ifndef NEREID_AGENT_NAME
#error "the name of the agent"
#endif

namespace {

std::string Parameter(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
                      const std::string& wanted) {
  uint32_t count = 0;
  TRITONREPOAGENT_ModelParameterCount(agent, model, &count);
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    const char* value = nullptr;
    TRITONREPOAGENT_ModelParameter(agent, model, i, &name, &value);
    if (name == wanted) return value;
  }
  return "";
}

void Note(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
          const std::string& what) {
  std::ofstream(Parameter(agent, model, "journal"), std::ios::app)
      << NEREID_AGENT_NAME << ": " << what << "\n";
}

// The journal for Finalize, which gets no model from which it could read the parameter.
std::mutex g_mu;
std::string g_journal;  // guarded by g_mu; empty: nowhere

TRITONSERVER_Error* Relocate(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
                             const std::string& file) {
  const char* location = nullptr;
  TRITONSERVER_Error* error = TRITONREPOAGENT_ModelRepositoryLocationAcquire(
      agent, model, TRITONREPOAGENT_ARTIFACT_FILESYSTEM, &location);
  if (error != nullptr) return error;
  std::ofstream(std::string(location) + "/" + file) << "made by an agent";
  std::error_code ignored;
  std::filesystem::create_directory(std::string(location) + "/1", ignored);
  return TRITONREPOAGENT_ModelRepositoryUpdate(agent, model, TRITONREPOAGENT_ARTIFACT_FILESYSTEM,
                                               location);
}

}  // namespace

extern "C" {

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelInitialize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  Note(agent, model, "initialize");
  if (!Parameter(agent, model, "whole").empty()) {
    const std::lock_guard<std::mutex> lock(g_mu);
    g_journal = Parameter(agent, model, "journal");
  }
  return nullptr;
}

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Finalize(TRITONREPOAGENT_Agent*) {
  const std::lock_guard<std::mutex> lock(g_mu);
  if (!g_journal.empty()) {
    std::ofstream(g_journal, std::ios::app) << NEREID_AGENT_NAME << ": fini\n";
  }
  return nullptr;
}

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelFinalize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  Note(agent, model, "finalize");
  return nullptr;
}

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ActionType action_type) {
  static const char* const kNames[] = {"load", "load_complete", "load_fail", "unload",
                                       "unload_complete"};
  Note(agent, model, kNames[action_type]);
  if (action_type != TRITONREPOAGENT_ACTION_LOAD) {
    const char* location = nullptr;
    TRITONREPOAGENT_ArtifactType type;
    TRITONREPOAGENT_ModelRepositoryLocation(agent, model, &type, &location);
    // Only LOAD may relocate the model, so the server has to refuse.
    TRITONSERVER_Error* const no =
        TRITONREPOAGENT_ModelRepositoryUpdate(agent, model, type, location);
    if (no == nullptr) return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "it was moved");
    TRITONSERVER_ErrorDelete(no);
    return nullptr;
  }
  if (const std::string text = Parameter(agent, model, "refuse"); !text.empty()) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, text.c_str());
  }
  const std::string file = Parameter(agent, model, "relocate");
  return file.empty() ? nullptr : Relocate(agent, model, file);
}

}  // extern "C"
