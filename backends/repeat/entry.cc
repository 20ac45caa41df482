// The C functions of libtriton_repeat.so.
#include "backends/sdk/entry.h"
#include "backends/repeat/options.h"
#include "backends/repeat/repeat.h"
#include "backends/sdk/options.h"

using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::RepeatInstance;
using nereid_backend::RepeatModel;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return Guard("Initialize", [&]() -> Error {
    NB_RETURN_IF_ERROR(nereid_backend::RequireApi(19));
    NB_ASSIGN_OR_RETURN(const nereid_backend::Json settings,
                        nereid_backend::ReadBackendSettings(backend));
    return nereid_backend::ReadSettings(nereid_backend::kRepeatOptions, settings).TakeError();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guard("ModelInitialize",
               [&] { return nereid_backend::InitializeModel<RepeatModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize", [&] { return nereid_backend::FinalizeModel<RepeatModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<RepeatInstance, RepeatModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<RepeatInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return Guard("ModelInstanceExecute", [&]() -> Error {
    nereid_backend::InstanceStateOf<RepeatInstance>(instance)->Execute(requests, request_count);
    return Error();
  });
}

}  // extern "C"
