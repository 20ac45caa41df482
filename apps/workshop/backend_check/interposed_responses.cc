// SPDX-License-Identifier: Apache-2.0
// The functions of the C API that take a response or a response factory.
#include "backend_check/interposed.h"
#include "backend_check/ledger.h"
#include "triton/core/tritonbackend.h"

using nereid::Ledger;
using nereid::RefusedCall;

// The rest of a function that only uses `response`.
#define NEREID_USE_RESPONSE(function, ...)                                       \
  if (!Ledger::Get().MayUse(response, #function)) return RefusedCall(#function); \
  return NEREID_PASS_ON(function, __VA_ARGS__)

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryNew(TRITONBACKEND_ResponseFactory** factory,
                                                     TRITONBACKEND_Request* request) {
  constexpr char kName[] = "TRITONBACKEND_ResponseFactoryNew";
  if (!Ledger::Get().MayUse(request, kName)) return RefusedCall(kName);
  TRITONSERVER_Error* const error =
      NEREID_PASS_ON(TRITONBACKEND_ResponseFactoryNew, factory, request);
  if (error == nullptr) Ledger::Get().NewFactory(*factory, request);
  return error;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryDelete(TRITONBACKEND_ResponseFactory* factory) {
  Ledger::Get().DeleteFactory(factory);
  return NEREID_PASS_ON(TRITONBACKEND_ResponseFactoryDelete, factory);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactorySendFlags(TRITONBACKEND_ResponseFactory* factory,
                                                           const uint32_t send_flags) {
  Ledger::Get().SendFlags(factory, send_flags);
  return NEREID_PASS_ON(TRITONBACKEND_ResponseFactorySendFlags, factory, send_flags);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  constexpr char kName[] = "TRITONBACKEND_ResponseNew";
  if (!Ledger::Get().MayUse(request, kName)) return RefusedCall(kName);
  TRITONSERVER_Error* const error = NEREID_PASS_ON(TRITONBACKEND_ResponseNew, response, request);
  if (error == nullptr) Ledger::Get().NewResponse(*response, request);
  return error;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNewFromFactory(TRITONBACKEND_Response** response,
                                                         TRITONBACKEND_ResponseFactory* factory) {
  TRITONSERVER_Error* const error =
      NEREID_PASS_ON(TRITONBACKEND_ResponseNewFromFactory, response, factory);
  if (error == nullptr) Ledger::Get().NewResponse(*response, factory);
  return error;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response) {
  if (!Ledger::Get().MayDelete(response)) return RefusedCall("TRITONBACKEND_ResponseDelete");
  return NEREID_PASS_ON(TRITONBACKEND_ResponseDelete, response);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                               const uint32_t send_flags,
                                               TRITONSERVER_Error* error) {
  if (!Ledger::Get().MaySend(response, send_flags, error != nullptr)) {
    return RefusedCall("TRITONBACKEND_ResponseSend");
  }
  return NEREID_PASS_ON(TRITONBACKEND_ResponseSend, response, send_flags, error);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const char* value) {
  NEREID_USE_RESPONSE(TRITONBACKEND_ResponseSetStringParameter, response, name, value);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetIntParameter(TRITONBACKEND_Response* response,
                                                          const char* name, const int64_t value) {
  NEREID_USE_RESPONSE(TRITONBACKEND_ResponseSetIntParameter, response, name, value);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetBoolParameter(TRITONBACKEND_Response* response,
                                                           const char* name, const bool value) {
  NEREID_USE_RESPONSE(TRITONBACKEND_ResponseSetBoolParameter, response, name, value);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetDoubleParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const double value) {
  NEREID_USE_RESPONSE(TRITONBACKEND_ResponseSetDoubleParameter, response, name, value);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 const TRITONSERVER_DataType datatype,
                                                 const int64_t* shape, const uint32_t dims_count) {
  NEREID_USE_RESPONSE(TRITONBACKEND_ResponseOutput, response, output, name, datatype, shape,
                      dims_count);
}

}  // extern "C"
