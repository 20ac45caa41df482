// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_* functions about the backend itself.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::Unwrap;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) try {
  *major = TRITONBACKEND_API_VERSION_MAJOR;
  *minor = TRITONBACKEND_API_VERSION_MINOR;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend,
                                              const char** name) try {
  *name = Unwrap(backend)->name().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend,
                                                TRITONSERVER_Message** backend_config) try {
  *backend_config = Unwrap(backend)->config();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy* policy) try {
  *policy = Unwrap(backend)->execution_policy;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy policy) try {
  Unwrap(backend)->execution_policy = policy;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(TRITONBACKEND_Backend* backend,
                                                   TRITONBACKEND_ArtifactType* artifact_type,
                                                   const char** location) try {
  *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = Unwrap(backend)->artifact_dir().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state) try {
  *state = Unwrap(backend)->state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* backend, void* state) try {
  Unwrap(backend)->state = state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* backend_attributes, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t* device_ids, const uint64_t id_count) try {
  nereid::PreferredGroup group;
  group.kind = static_cast<nereid::InstanceKind>(kind);
  group.count = count;
  if (device_ids != nullptr) group.device_ids.assign(device_ids, device_ids + id_count);
  Unwrap(backend_attributes)->preferred_groups.push_back(std::move(group));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* backend_attributes, bool enabled) try {
  Unwrap(backend_attributes)->parallel_instance_loading = enabled;
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
