// SPDX-License-Identifier: Apache-2.0
// The functions of the C API that take a request.
#include "backend_check/interposed.h"
#include "backend_check/ledger.h"
#include "triton/core/tritonbackend.h"

using nereid::Ledger;
using nereid::RefusedCall;

// The rest of a function that only reads `request`.
#define NEREID_USE_REQUEST(function, ...)                                       \
  if (!Ledger::Get().MayUse(request, #function)) return RefusedCall(#function); \
  return NEREID_PASS_ON(function, __VA_ARGS__)

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request, const char** id) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestId, request, id);
}

TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* is_cancelled) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestIsCancelled, request, is_cancelled);
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request* request,
                                                       uint64_t* id) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestCorrelationId, request, id);
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request* request,
                                                             const char** id) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestCorrelationIdString, request, id);
}

TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout) {
  NEREID_USE_REQUEST(TRITONBACKEND_InferenceRequestTimeoutMicroseconds, request, timeout);
}

TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request, uint32_t* flags) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestFlags, request, flags);
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                        uint32_t* count) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestParameterCount, request, count);
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** key,
                                                   TRITONSERVER_ParameterType* type,
                                                   const void** vvalue) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestParameter, request, index, key, type, vvalue);
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestInputCount, request, count);
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputName(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** input_name) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestInputName, request, index, input_name);
}

TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestInput, request, name, input);
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      const uint32_t index,
                                                      TRITONBACKEND_Input** input) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestInputByIndex, request, index, input);
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestOutputCount, request, count);
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                    const uint32_t index,
                                                    const char** output_name) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestOutputName, request, index, output_name);
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(
    TRITONBACKEND_Request* request, const char* name, size_t* byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestOutputBufferProperties, request, name, byte_size,
                     memory_type, memory_type_id);
}

TRITONSERVER_Error* TRITONBACKEND_RequestTrace(TRITONBACKEND_Request* request,
                                               TRITONSERVER_InferenceTrace** trace) {
  NEREID_USE_REQUEST(TRITONBACKEND_RequestTrace, request, trace);
}

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                           TRITONBACKEND_Request* request, const char* name,
                                           const TRITONSERVER_DataType datatype,
                                           const int64_t* shape, const uint32_t dims_count) {
  NEREID_USE_REQUEST(TRITONBACKEND_StateNew, state, request, name, datatype, shape, dims_count);
}

TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request,
                                                 uint32_t release_flags) {
  if (!Ledger::Get().MayRelease(request, release_flags)) {
    return RefusedCall("TRITONBACKEND_RequestRelease");
  }
  return NEREID_PASS_ON(TRITONBACKEND_RequestRelease, request, release_flags);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, const bool success,
    const uint64_t exec_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns) {
  const Ledger::Times times = {exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns};
  if (!Ledger::Get().MayReport(request, success, times)) {
    return RefusedCall("TRITONBACKEND_ModelInstanceReportStatistics");
  }
  return NEREID_PASS_ON(TRITONBACKEND_ModelInstanceReportStatistics, instance, request, success,
                        exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t batch_size, const uint64_t exec_start_ns,
    const uint64_t compute_start_ns, const uint64_t compute_end_ns, const uint64_t exec_end_ns) {
  Ledger::Get().ReportBatch({exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns});
  return NEREID_PASS_ON(TRITONBACKEND_ModelInstanceReportBatchStatistics, instance, batch_size,
                        exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns);
}

}  // extern "C"
