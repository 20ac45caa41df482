// SPDX-License-Identifier: Apache-2.0
// What a careless backend may call with a request after it has released it.
#include <array>

#include "backends/sdk/batch.h"
#include "backends/sdk/tensor.h"
#include "backends/testing/behaviours.h"

namespace nereid_backend {
namespace {

Error ReadInputs(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestInputCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_RequestInputName(request, i, &name));
    NB_RETURN_IF_ERROR(InputView::At(request, i).TakeError());
    NB_ASSIGN_OR_RETURN(const InputView input, InputView::Find(request, name));
    std::vector<Piece> pieces;
    NB_RETURN_IF_ERROR(AppendPieces(input, &pieces));
    std::vector<char> bytes(TotalSize(pieces));
    CopyPieces(pieces, bytes.data());
    const void* buffer = nullptr;
    TRITONSERVER_BufferAttributes* attributes = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_InputBufferAttributes(input.handle, 0, &buffer, &attributes));
  }
  return Error();
}

Error ReadParameters(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type;
    const void* value = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
  }
  return Error();
}

Error ReadProperties(TRITONBACKEND_Request* request) {
  const char* id = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestId(request, &id));
  bool cancelled = false;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestIsCancelled(request, &cancelled));
  uint64_t number = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestCorrelationId(request, &number));
  NB_RETURN_IF_ERROR(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &number));
  uint32_t flags = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestFlags(request, &flags));
  TRITONSERVER_InferenceTrace* trace = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestTrace(request, &trace));
  uint32_t outputs = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestOutputCount(request, &outputs));
  for (uint32_t i = 0; i < outputs; ++i) {
    const char* name = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_RequestOutputName(request, i, &name));
    size_t size = 8;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t device = 0;
    // Refused once the final response was sent.
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_RequestOutputBufferProperties(request, name, &size, &type, &device));
  }
  return Error();
}

// Responses to a request that is over: they can be made, and given up again.
Error MakeResponses(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Response* response = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseNew(&response, request));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseDelete(response));
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, request));
  return Error(TRITONBACKEND_ResponseFactoryDelete(factory));
}

Error MustFail(TRITONSERVER_Error* made, const char* call) {
  const Error error(made);
  return error.ok() ? Error::Internal(StrCat(call, " succeeded with a released request")) : Error();
}

}  // namespace

Error UseReleased(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request) {
  NB_RETURN_IF_ERROR(ReadInputs(request));
  NB_RETURN_IF_ERROR(ReadParameters(request));
  NB_RETURN_IF_ERROR(ReadProperties(request));
  NB_RETURN_IF_ERROR(MakeResponses(request));
  for (const uint32_t flags :
       {TRITONSERVER_REQUEST_RELEASE_ALL, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE}) {
    NB_RETURN_IF_ERROR(
        MustFail(TRITONBACKEND_RequestRelease(request, flags), "TRITONBACKEND_RequestRelease"));
  }
  // The models that show this have no states.
  TRITONBACKEND_State* state = nullptr;
  const int64_t shape[] = {1};
  NB_RETURN_IF_ERROR(
      MustFail(TRITONBACKEND_StateNew(&state, request, "STATE", TRITONSERVER_TYPE_INT32, shape, 1),
               "TRITONBACKEND_StateNew"));
  const uint64_t now = NowNs();
  return Error(
      TRITONBACKEND_ModelInstanceReportStatistics(instance, request, true, now, now, now, now));
}

}  // namespace nereid_backend
