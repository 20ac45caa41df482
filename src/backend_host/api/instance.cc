// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_ModelInstance* functions, except the statistics.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "c_objects/error.h"
#include "nereid/backend.h"

using nereid::CaughtError;
using nereid::ToCError;
using nereid::Unwrap;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(TRITONBACKEND_ModelInstance* instance,
                                                    const char** name) try {
  *name = Unwrap(instance)->spec().name.c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* instance,
                                                    TRITONSERVER_InstanceGroupKind* kind) try {
  *kind = static_cast<TRITONSERVER_InstanceGroupKind>(Unwrap(instance)->spec().kind);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(TRITONBACKEND_ModelInstance* instance,
                                                        int32_t* device_id) try {
  *device_id = Unwrap(instance)->spec().device_id;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(TRITONBACKEND_ModelInstance* instance,
                                                          TRITONSERVER_Message** host_policy) try {
  *host_policy = Unwrap(instance)->host_policy();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceIsPassive(TRITONBACKEND_ModelInstance* instance,
                                                         bool* is_passive) try {
  *is_passive = Unwrap(instance)->spec().passive;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileCount(TRITONBACKEND_ModelInstance* instance,
                                                            uint32_t* count) try {
  *count = 0;  // profiles are refused at load
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileName(TRITONBACKEND_ModelInstance* instance,
                                                           const uint32_t index,
                                                           const char** profile_name) try {
  return ToCError(absl::InvalidArgumentError(
      absl::StrCat("out of bounds index ", index, ": instance is configured with 0 profiles")));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count) try {
  *count = 0;  // secondary devices are refused at load
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id) try {
  return ToCError(absl::InvalidArgumentError(absl::StrCat(
      "out of bounds index ", index, ": instance is configured with 0 secondary devices")));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model) try {
  *model = reinterpret_cast<TRITONBACKEND_Model*>(Unwrap(instance)->model());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state) try {
  *state = Unwrap(instance)->state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state) try {
  Unwrap(instance)->state = state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage,
    uint32_t usage_size) try {
  std::vector<TRITONSERVER_BufferAttributes> reports;
  for (uint32_t i = 0; i < usage_size; ++i) reports.push_back(*usage[i]);
  Unwrap(instance)->ReportMemory(std::move(reports));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ModelInstanceSetMostSeparate(TRITONBACKEND_ModelInstance* instance,
                                                        const uint32_t count) try {
  if (count == 0) {
    return ToCError(absl::InvalidArgumentError(
        "an instance has to take at least one request at a time, and said 0"));
  }
  Unwrap(instance)->set_most_separate(count);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ModelInstanceSetLendable(TRITONBACKEND_ModelInstance* instance,
                                                    bool lendable) try {
  Unwrap(instance)->set_lendable(lendable);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ModelInstanceSetAvailable(TRITONBACKEND_ModelInstance* instance,
                                                     bool available) try {
  Unwrap(instance)->set_available(available);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ModelInstanceOnLoan(TRITONBACKEND_ModelInstance* instance,
                                               bool* on_loan) try {
  *on_loan = Unwrap(instance)->on_loan();
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
