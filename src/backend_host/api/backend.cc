// TRITONBACKEND_* functions about the backend itself.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "c_objects/error.h"

using nereid::Unwrap;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = TRITONBACKEND_API_VERSION_MAJOR;
  *minor = TRITONBACKEND_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend, const char** name) {
  *name = Unwrap(backend)->name().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend,
                                                TRITONSERVER_Message** backend_config) {
  *backend_config = Unwrap(backend)->config();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                         TRITONBACKEND_ExecutionPolicy* policy) {
  *policy = Unwrap(backend)->execution_policy;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                            TRITONBACKEND_ExecutionPolicy policy) {
  Unwrap(backend)->execution_policy = policy;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(TRITONBACKEND_Backend* backend,
                                                   TRITONBACKEND_ArtifactType* artifact_type,
                                                   const char** location) {
  *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = Unwrap(backend)->artifact_dir().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state) {
  *state = Unwrap(backend)->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* backend, void* state) {
  Unwrap(backend)->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* backend_attributes, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t* device_ids, const uint64_t id_count) {
  nereid::PreferredGroup group;
  group.kind = static_cast<nereid::InstanceKind>(kind);
  group.count = count;
  if (device_ids != nullptr) group.device_ids.assign(device_ids, device_ids + id_count);
  Unwrap(backend_attributes)->preferred_groups.push_back(std::move(group));
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* backend_attributes, bool enabled) {
  Unwrap(backend_attributes)->parallel_instance_loading = enabled;
  return nullptr;
}

}  // extern "C"
