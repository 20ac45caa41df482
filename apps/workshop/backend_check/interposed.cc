// SPDX-License-Identifier: Apache-2.0
// The functions of the C API that concern no request: versions, errors, memory.
#include "backend_check/interposed.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "backend_check/ledger.h"
#include "triton/core/tritonbackend.h"

namespace nereid {
namespace {

std::atomic<unsigned> pretended_major{0};

}  // namespace

void* FindInServer(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "backend-check: libtritonserver.so has no %s\n", name);
    std::abort();
  }
  return found;
}

TRITONSERVER_Error* RefusedCall(const char* function) {
  const std::string text = absl::StrCat("backend-check did not pass ", function,
                                        " on to the server: the object is not the backend's");
  return ErrorLedger::Get().Gives(
      function, NEREID_IN_SERVER(TRITONSERVER_ErrorNew)(TRITONSERVER_ERROR_INTERNAL, text.c_str()));
}

void PretendMajorVersion(unsigned major) { pretended_major = major; }

}  // namespace nereid

using nereid::ErrorLedger;
using nereid::Ledger;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* msg) {
  return NEREID_PASS_ON(TRITONSERVER_ErrorNew, code, msg);
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) {
  if (ErrorLedger::Get().Deletes(error)) NEREID_IN_SERVER(TRITONSERVER_ErrorDelete)(error);
}

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  TRITONSERVER_Error* const error = NEREID_PASS_ON(TRITONBACKEND_ApiVersion, major, minor);
  const unsigned pretended = nereid::pretended_major;
  if (error == nullptr && pretended != 0) {
    *major = pretended;
    *minor = 0;
  }
  return error;
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(TRITONBACKEND_MemoryManager* manager,
                                                        void** buffer,
                                                        const TRITONSERVER_MemoryType memory_type,
                                                        const int64_t memory_type_id,
                                                        const uint64_t byte_size) {
  TRITONSERVER_Error* const error = NEREID_PASS_ON(TRITONBACKEND_MemoryManagerAllocate, manager,
                                                   buffer, memory_type, memory_type_id, byte_size);
  if (error == nullptr) Ledger::Get().NewMemory(*buffer);
  return error;
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(TRITONBACKEND_MemoryManager* manager,
                                                    void* buffer,
                                                    const TRITONSERVER_MemoryType memory_type,
                                                    const int64_t memory_type_id) {
  Ledger::Get().FreeMemory(buffer);
  return NEREID_PASS_ON(TRITONBACKEND_MemoryManagerFree, manager, buffer, memory_type,
                        memory_type_id);
}

}  // extern "C"
