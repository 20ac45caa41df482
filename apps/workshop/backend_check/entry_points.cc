// SPDX-License-Identifier: Apache-2.0
#include "backend_check/entry_points.h"

#include <absl/strings/str_cat.h>

#include <exception>
#include <vector>

#include "backend_check/call_watch.h"
#include "backend_check/error_ledger.h"
#include "backend_check/ledger.h"
#include "backend_check/recorder.h"

namespace nereid {
namespace {

BackendEntryPoints backend;  // the backend's own functions

void FoundException(const char* function, const char* what) {
  Recorder::Get().Found("exception", absl::StrCat(function, " threw: ", what));
}

// Calls a function of the backend; the server sees exceptions as it would without the check.
template <typename Call>
TRITONSERVER_Error* Watched(const char* function, const Call& call) {
  const WatchedCall watched(function);
  try {
    return ErrorLedger::Get().Returns(function, call());
  } catch (const std::exception& e) {
    FoundException(function, e.what());
    throw;
  } catch (...) {
    FoundException(function, "an object that is not a std::exception");
    throw;
  }
}

template <typename Call>
TRITONSERVER_Error* WatchedEnd(const char* function, const Call& call) {
  TRITONSERVER_Error* const error = Watched(function, call);
  if (error != nullptr) {
    Recorder::Get().Found("finalize-failed",
                          absl::StrCat(function, ": ", TRITONSERVER_ErrorMessage(error)));
  }
  return error;
}

TRITONSERVER_Error* Initialize(TRITONBACKEND_Backend* handle) {
  return Watched("TRITONBACKEND_Initialize", [&] { return backend.initialize(handle); });
}

TRITONSERVER_Error* Finalize(TRITONBACKEND_Backend* handle) {
  return WatchedEnd("TRITONBACKEND_Finalize", [&] { return backend.finalize(handle); });
}

TRITONSERVER_Error* GetAttribute(TRITONBACKEND_Backend* handle,
                                 TRITONBACKEND_BackendAttribute* attributes) {
  return Watched("TRITONBACKEND_GetBackendAttribute",
                 [&] { return backend.get_backend_attribute(handle, attributes); });
}

TRITONSERVER_Error* ModelInitialize(TRITONBACKEND_Model* model) {
  return Watched("TRITONBACKEND_ModelInitialize", [&] { return backend.model_initialize(model); });
}

TRITONSERVER_Error* ModelFinalize(TRITONBACKEND_Model* model) {
  return WatchedEnd("TRITONBACKEND_ModelFinalize", [&] { return backend.model_finalize(model); });
}

TRITONSERVER_Error* InstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Watched("TRITONBACKEND_ModelInstanceInitialize",
                 [&] { return backend.instance_initialize(instance); });
}

TRITONSERVER_Error* InstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return WatchedEnd("TRITONBACKEND_ModelInstanceFinalize",
                    [&] { return backend.instance_finalize(instance); });
}

TRITONSERVER_Error* InstanceReady(TRITONBACKEND_ModelInstance* instance) {
  return Watched("TRITONBACKEND_ModelInstanceReady",
                 [&] { return backend.instance_ready(instance); });
}

// Ends an execution in the ledger, also when the backend throws.
struct Execution {
  std::vector<Ledger::RequestPtr> batch;
  bool failed = true;
  ~Execution() { Ledger::Get().EndExecute(batch, failed); }
};

TRITONSERVER_Error* Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                            const uint32_t count) {
  Execution execution{Ledger::Get().BeginExecute(requests, count)};
  TRITONSERVER_Error* const error = Watched("TRITONBACKEND_ModelInstanceExecute", [&] {
    return backend.instance_execute(instance, requests, count);
  });
  execution.failed = error != nullptr;
  return error;
}

}  // namespace

bool BackendWasLoaded() { return backend.instance_execute != nullptr; }

void WatchEntryPoints(BackendEntryPoints* entry_points) {
  backend = *entry_points;
  const auto replace = [](auto* slot, auto function) {
    if (*slot != nullptr) *slot = function;
  };
  replace(&entry_points->initialize, &Initialize);
  replace(&entry_points->finalize, &Finalize);
  replace(&entry_points->get_backend_attribute, &GetAttribute);
  replace(&entry_points->model_initialize, &ModelInitialize);
  replace(&entry_points->model_finalize, &ModelFinalize);
  replace(&entry_points->instance_initialize, &InstanceInitialize);
  replace(&entry_points->instance_finalize, &InstanceFinalize);
  replace(&entry_points->instance_execute, &Execute);
  replace(&entry_points->instance_ready, &InstanceReady);
}

}  // namespace nereid
