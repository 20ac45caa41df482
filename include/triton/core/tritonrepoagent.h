// SPDX-License-Identifier: Apache-2.0
// The repository agent C API: a shared library (libtritonrepoagent_<name>.so) that may inspect or
// replace the files of a model before it is loaded, for instance to check a signature or to
// download them. The library implements the functions marked TRITONREPOAGENT_ISPEC; the server
// implements those marked TRITONREPOAGENT_DECLSPEC.
//
// Language: C99 and C++. Errors and ownership are as in tritonserver.h.
//
// Threads: for one pair of agent and model the server makes one call at a time; calls for
// different models may run concurrently, so state kept in the agent needs its own lock.

#ifndef NEREID_TRITON_CORE_TRITONREPOAGENT_H_
#define NEREID_TRITON_CORE_TRITONREPOAGENT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Linkage of what the server library implements (_DECLSPEC) and of what a plug-in implements
/// (_ISPEC).
#if defined(__GNUC__) || defined(__clang__)
#define TRITONREPOAGENT_DECLSPEC __attribute__((__visibility__("default")))
#define TRITONREPOAGENT_ISPEC __attribute__((__visibility__("default")))
#else
#define TRITONREPOAGENT_DECLSPEC
#define TRITONREPOAGENT_ISPEC
#endif

/// Version of the repository agent API this header describes. An agent compares it with
/// TRITONREPOAGENT_ApiVersion and refuses a server with another major number or a smaller minor
/// one.
#define TRITONREPOAGENT_API_VERSION_MAJOR 0
#define TRITONREPOAGENT_API_VERSION_MINOR 1

/// The agent, one per loaded library, and its view of one model that lists it.
typedef struct TRITONREPOAGENT_Agent TRITONREPOAGENT_Agent;
typedef struct TRITONREPOAGENT_AgentModel TRITONREPOAGENT_AgentModel;

/* ---------------------------------------------------------------------------------------------- */
/* What the server offers to an agent                                                             */
/* ---------------------------------------------------------------------------------------------- */

/// Form in which a model's files are available.
typedef enum TRITONREPOAGENT_artifacttype_enum {
  /// A directory on a local file system; the location is its path.
  TRITONREPOAGENT_ARTIFACT_FILESYSTEM = 0,
  /// A directory on remote storage; the location is its URL.
  TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM = 1
} TRITONREPOAGENT_ArtifactType;

/// Step in the life of a model that an agent is told about.
typedef enum TRITONREPOAGENT_actiontype_enum {
  /// The model is about to be loaded. Only now may the agent replace its location. Followed by
  /// LOAD_COMPLETE or LOAD_FAIL.
  TRITONREPOAGENT_ACTION_LOAD = 0,
  /// The load succeeded. Followed by UNLOAD.
  TRITONREPOAGENT_ACTION_LOAD_COMPLETE = 1,
  /// The load failed. Nothing follows.
  TRITONREPOAGENT_ACTION_LOAD_FAIL = 2,
  /// The unload begins; requests may still be in flight. Followed by UNLOAD_COMPLETE.
  TRITONREPOAGENT_ACTION_UNLOAD = 3,
  /// The model is gone. Nothing follows.
  TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE = 4
} TRITONREPOAGENT_ActionType;

/// Writes the version of the repository agent API that the server implements. Thread-safe.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ApiVersion(uint32_t* major,
                                                                        uint32_t* minor);

/// Returns where the files of the model are at present: where the repository has them, or where
/// the previous agent of the model put them. They must not be changed. The string belongs to
/// the server and lives as long as the model object.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocation(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType* artifact_type, const char** location);

/// Returns an empty local directory for the agent to fill; repeated calls return the same one.
/// It exists until it is released or the model object ends. The string belongs to the server.
/// Errors: INVALID_ARG "Unexpected artifact type, expects
/// 'TRITONREPOAGENT_ARTIFACT_FILESYSTEM'".
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationAcquire(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char** location);

/// Deletes a directory that was acquired. Errors: UNAVAILABLE "No mutable location to be
/// deleted".
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationRelease(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, const char* location);

/// Makes a location the place of the model's files, for the agents that follow and for the
/// load. Only during TRITONREPOAGENT_ACTION_LOAD. The location is copied and must exist until
/// the model is unloaded. Errors: INVALID_ARG "location can only be updated during
/// TRITONREPOAGENT_ACTION_LOAD, current action type is <TYPE or not set>".
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryUpdate(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char* location);

/// Returns the number of parameters that the model's configuration gives to this agent.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelParameterCount(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, uint32_t* count);

/// Returns a parameter by index. The strings belong to the server. Errors: INVALID_ARG for an
/// index out of range.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelParameter(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, const uint32_t index,
    const char** parameter_name, const char** parameter_value);

/// Returns the configuration of the model, as the files at the present location have it, in
/// JSON. config_version must be 1. The caller deletes the message.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelConfig(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, const uint32_t config_version,
    TRITONSERVER_Message** model_config);

/// Returns the pointer stored with TRITONREPOAGENT_ModelSetState, NULL if there is none.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelState(
    TRITONREPOAGENT_AgentModel* model, void** state);

/// Stores an arbitrary pointer with a model. The server does not touch what it points to.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelSetState(
    TRITONREPOAGENT_AgentModel* model, void* state);

/// Returns the pointer stored with TRITONREPOAGENT_SetState, NULL if there is none.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_State(TRITONREPOAGENT_Agent* agent,
                                                                   void** state);

/// Stores an arbitrary pointer with the agent object. The server does not touch what it points to.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent* agent,
                                                                      void* state);

/* ---------------------------------------------------------------------------------------------- */
/* Implemented by the agent library                                                               */
/* ---------------------------------------------------------------------------------------------- */

// The server looks these up by name after it has opened the library; only
// TRITONREPOAGENT_ModelAction is required. Returned errors pass to the server.

/// Optional. Runs once after the library was loaded. An error makes the loads fail that need
/// the agent.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Initialize(TRITONREPOAGENT_Agent* agent);

/// Optional. Runs once before the library is closed.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Finalize(TRITONREPOAGENT_Agent* agent);

/// Optional. Runs when a model that lists the agent is about to be loaded, before its first
/// action. An error fails the load.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelInitialize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model);

/// Optional. Runs after the last action of a model, to free what ModelInitialize made.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelFinalize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model);

/// Required. Lets the agent act at a step of a model's life. An error on LOAD fails the load; any
/// other is logged. With several agents on a model, LOAD and UNLOAD go to them in the order of the
/// configuration, the other actions in reverse.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ActionType action_type);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // NEREID_TRITON_CORE_TRITONREPOAGENT_H_
