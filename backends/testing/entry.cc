// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_testing.so. ModelInitialize and ModelInstanceExecute have no guard
// against exceptions, so that a behaviour can throw: this tests the server's side of the boundary.
#include "backends/sdk/entry.h"
#include "backends/sdk/options.h"
#include "backends/testing/behaviours.h"
#include "backends/testing/model.h"
#include "backends/testing/options.h"

using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::InstanceStateOf;
using nereid_backend::TestingInstance;
using nereid_backend::TestingModel;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return Guard("Initialize", [&]() -> Error {
    NB_RETURN_IF_ERROR(nereid_backend::RequireApi(15));
    NB_ASSIGN_OR_RETURN(const nereid_backend::Json settings,
                        nereid_backend::ReadBackendSettings(backend));
    NB_ASSIGN_OR_RETURN(const nereid_backend::OptionValues values,
                        nereid_backend::ReadSettings(nereid_backend::kTestingOptions, settings));
    if (!values.Bool("device-blocking").value_or(false)) return Error();
    return Error(
        TRITONBACKEND_BackendSetExecutionPolicy(backend, TRITONBACKEND_EXECUTION_DEVICE_BLOCKING));
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return nereid_backend::InitializeModel<TestingModel>(model).release();
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize", [&] {
    const TestingModel* state = nereid_backend::ModelStateOf<TestingModel>(model);
    if (state != nullptr && state->behaviour() == "hang_in_finalize") nereid_backend::Hang();
    return nereid_backend::FinalizeModel<TestingModel>(model);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<TestingInstance, TestingModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize", [&] {
    const TestingInstance* state = InstanceStateOf<TestingInstance>(instance);
    if (state != nullptr && state->model().behaviour() == "hang_in_instance_finalize") {
      nereid_backend::Hang();
    }
    return nereid_backend::FinalizeInstance<TestingInstance>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceReady",
               [&] { return InstanceStateOf<TestingInstance>(instance)->CheckReady(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* handle,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  TestingInstance* instance = InstanceStateOf<TestingInstance>(handle);
  return instance->model().execute()(*instance, requests, request_count);
}

}  // extern "C"
