// SPDX-License-Identifier: Apache-2.0
// Behaviour output_properties: asks where the first output will be, preferring a GPU, before it
// answers. Tests use it to see what backends are told.
#include "backends/sdk/log.h"
#include "backends/testing/behaviours.h"

namespace nereid_backend {
namespace {

// An error that says what was told, unless the output is to be in the memory of the process.
Error CheckProperties(TRITONBACKEND_Request* request) {
  const char* name = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestOutputName(request, 0, &name));
  size_t byte_size = 8;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
  int64_t id = 1;
  NB_RETURN_IF_ERROR(
      TRITONBACKEND_RequestOutputBufferProperties(request, name, &byte_size, &type, &id));
  if (type == TRITONSERVER_MEMORY_CPU && id == 0 && byte_size == 8) return Error();
  return Error::Internal(StrCat("testing backend: '", name, "' of ", byte_size,
                                " bytes will be in ", TRITONSERVER_MemoryTypeString(type), " ",
                                id));
}

}  // namespace

TRITONSERVER_Error* ExecuteOutputProperties(TestingInstance& instance,
                                            TRITONBACKEND_Request** requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start = NowNs();
    if (const Error error = CheckProperties(requests[i]); error.ok()) {
      EchoAndRelease(instance.model(), instance.handle(), requests[i]);
    } else {
      TRITONBACKEND_Response* response = nullptr;
      NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNew(&response, requests[i]), "response");
      SendAndRelease(instance.handle(), requests[i], response, error, start);
    }
  }
  return nullptr;
}

}  // namespace nereid_backend
