// SPDX-License-Identifier: Apache-2.0
// A batching library. Counts its calls in the batcher's state; refuses the request "refused". With
// NEREID_INCOMPLETE one of the functions is missing.
#include <string>

#include "triton/core/tritonbackend.h"

namespace {
std::string g_journal;
}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* nereid_batcher_journal() {
  return g_journal.c_str();
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(
    TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model) {
  const char* name = nullptr;
  TRITONBACKEND_ModelName(model, &name);
  if (std::string(name) == "batcher_refused") {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "no batcher for this model");
  }
  g_journal = "batcher_initialize ";
  *batcher = reinterpret_cast<TRITONBACKEND_Batcher*>(&g_journal);
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(
    TRITONBACKEND_Batcher* batcher) {
  *reinterpret_cast<std::string*>(batcher) += "batcher_finalize ";
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp) {
  *userp = const_cast<TRITONBACKEND_Batcher*>(batcher);
  g_journal += "batch_initialize ";
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include) {
  const char* id = nullptr;
  TRITONBACKEND_RequestId(request, &id);
  *static_cast<std::string*>(userp) += std::string("include:") + id + " ";
  if (std::string(id) == "broken") {
    *should_include = true;
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "cannot tell");
  }
  if (std::string(id) != "refused") *should_include = true;  // unset means no
  return nullptr;
}

#ifndef NEREID_INCOMPLETE
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp) {
  *static_cast<std::string*>(userp) += "batch_finalize ";
  return nullptr;
}
#endif

}  // extern "C"
