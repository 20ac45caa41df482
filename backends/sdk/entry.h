// SPDX-License-Identifier: Apache-2.0
// The C functions that a backend exports: version check, C++ objects as the state of the server's
// handles, and NB_BACKEND_FUNCTIONS, which defines those that are alike in all backends. Stateless.
#ifndef NEREID_BACKENDS_SDK_ENTRY_H_
#define NEREID_BACKENDS_SDK_ENTRY_H_

#include <memory>

#include "backends/sdk/batch.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

// A backend that defines this function declares by its presence, to servers that look for it, that
// its executions wait for nothing except the computation, so that a thread with other duties may
// run short ones. Never called.
extern "C" TRITONBACKEND_DECLSPEC void NEREID_BackendExecutesBriefly(void);
// Declares in the same way that the backend accepts inputs in several pieces
// (TRITONBACKEND_InputBuffer), so that the server need not join them. Elements of BYTES are always
// joined.
extern "C" TRITONBACKEND_DECLSPEC void NEREID_BackendReadsPieces(void);
// Declares in the same way that the backend has no code for GPUs: the server keeps its instances on
// the CPU also where there are GPUs, and refuses KIND_GPU.
extern "C" TRITONBACKEND_DECLSPEC void NEREID_BackendComputesOnCpus(void);

namespace nereid_backend {

// UNSUPPORTED if the server's backend API has another major version than these headers, or a minor
// one below `minor`, the oldest that has all the backend calls.
Error RequireApi(uint32_t minor);

// Makes what all models of a backend share, the state of the backend's handle. StateT has `static
// Result<std::unique_ptr<StateT>> Create(TRITONBACKEND_Backend*)`.
template <typename StateT>
Error InitializeBackend(TRITONBACKEND_Backend* backend) {
  NB_RETURN_IF_ERROR(RequireApi(10));
  NB_ASSIGN_OR_RETURN(std::unique_ptr<StateT> state, StateT::Create(backend));
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendSetState(backend, state.get()));
  state.release();  // FinalizeBackend takes it back
  return Error();
}

template <typename StateT>
Error FinalizeBackend(TRITONBACKEND_Backend* backend) {
  void* state = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendState(backend, &state));
  delete static_cast<StateT*>(state);
  return Error(TRITONBACKEND_BackendSetState(backend, nullptr));
}

// INTERNAL if the backend was not initialised.
template <typename StateT>
Result<const StateT*> BackendStateOf(TRITONBACKEND_Model* model) {
  TRITONBACKEND_Backend* backend = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelBackend(model, &backend));
  void* state = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendState(backend, &state));
  if (state == nullptr) return Error::Internal("the backend was not initialised");
  return static_cast<const StateT*>(state);
}

template <typename ModelT>
ModelT* ModelStateOf(TRITONBACKEND_Model* model) {
  void* state = nullptr;
  Error ignored(TRITONBACKEND_ModelState(model, &state));
  return static_cast<ModelT*>(state);
}

template <typename InstanceT>
InstanceT* InstanceStateOf(TRITONBACKEND_ModelInstance* instance) {
  void* state = nullptr;
  Error ignored(TRITONBACKEND_ModelInstanceState(instance, &state));
  return static_cast<InstanceT*>(state);
}

// ModelT has `static Result<std::unique_ptr<ModelT>> Create(TRITONBACKEND_Model*)`.
template <typename ModelT>
Error InitializeModel(TRITONBACKEND_Model* model) {
  NB_ASSIGN_OR_RETURN(std::unique_ptr<ModelT> state, ModelT::Create(model));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelSetState(model, state.get()));
  state.release();  // FinalizeModel takes it back
  return Error();
}

template <typename ModelT>
Error FinalizeModel(TRITONBACKEND_Model* model) {
  const std::unique_ptr<ModelT> state(ModelStateOf<ModelT>(model));
  return Error(TRITONBACKEND_ModelSetState(model, nullptr));
}

// InstanceT has `static Result<std::unique_ptr<InstanceT>> Create(TRITONBACKEND_ModelInstance*,
// const ModelT&)`; the model outlives it.
template <typename InstanceT, typename ModelT>
Error InitializeInstance(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceModel(instance, &model));
  NB_ASSIGN_OR_RETURN(std::unique_ptr<InstanceT> state,
                      InstanceT::Create(instance, *ModelStateOf<ModelT>(model)));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceSetState(instance, state.get()));
  state.release();  // FinalizeInstance takes it back
  return Error();
}

template <typename InstanceT>
Error FinalizeInstance(TRITONBACKEND_ModelInstance* instance) {
  const std::unique_ptr<InstanceT> state(InstanceStateOf<InstanceT>(instance));
  return Error(TRITONBACKEND_ModelInstanceSetState(instance, nullptr));
}

}  // namespace nereid_backend

// Defines the functions that begin and end a backend, its models and its instances. See
// InitializeBackend, InitializeModel and InitializeInstance for what the three classes have. The
// backend defines TRITONBACKEND_ModelInstanceExecute itself, or by NB_EXECUTE_BATCH.
#define NB_BACKEND_FUNCTIONS(BackendT, ModelT, InstanceT)                                          \
  extern "C" {                                                                                     \
  TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {                   \
    return ::nereid_backend::Guard(                                                                \
        "Initialize", [&] { return ::nereid_backend::InitializeBackend<BackendT>(backend); });     \
  }                                                                                                \
  TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {                     \
    return ::nereid_backend::Guard(                                                                \
        "Finalize", [&] { return ::nereid_backend::FinalizeBackend<BackendT>(backend); });         \
  }                                                                                                \
  TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {                  \
    return ::nereid_backend::Guard(                                                                \
        "ModelInitialize", [&] { return ::nereid_backend::InitializeModel<ModelT>(model); });      \
  }                                                                                                \
  TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {                    \
    return ::nereid_backend::Guard(                                                                \
        "ModelFinalize", [&] { return ::nereid_backend::FinalizeModel<ModelT>(model); });          \
  }                                                                                                \
  TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(                                       \
      TRITONBACKEND_ModelInstance* instance) {                                                     \
    return ::nereid_backend::Guard("ModelInstanceInitialize", [&] {                                \
      return ::nereid_backend::InitializeInstance<InstanceT, ModelT>(instance);                    \
    });                                                                                            \
  }                                                                                                \
  TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) { \
    return ::nereid_backend::Guard("ModelInstanceFinalize", [&] {                                  \
      return ::nereid_backend::FinalizeInstance<InstanceT>(instance);                              \
    });                                                                                            \
  }                                                                                                \
  }

// Executes requests as one batch: InstanceT has `Error Execute(Batch*)`.
#define NB_EXECUTE_BATCH(InstanceT)                                                       \
  extern "C" TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(                      \
      TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,            \
      const uint32_t request_count) {                                                     \
    return ::nereid_backend::RunBatch(                                                    \
        instance, requests, request_count, [&](::nereid_backend::Batch& batch) {          \
          return ::nereid_backend::InstanceStateOf<InstanceT>(instance)->Execute(&batch); \
        });                                                                               \
  }

#endif  // NEREID_BACKENDS_SDK_ENTRY_H_
