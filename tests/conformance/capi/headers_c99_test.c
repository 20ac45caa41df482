// SPDX-License-Identifier: Apache-2.0
/* The public C headers in a strict C99 program, without any C++ in sight: they compile with
 * -std=c99 -pedantic -Wall -Werror, in any order and more than once, and a C program can use what
 * they declare, by type name alone and with `struct`. */
#include "nereid/server.h"
#include "triton/core/tritonbackend.h"
#include "triton/core/tritoncache.h"
#include "triton/core/tritonrepoagent.h"
#include "triton/core/tritonserver.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

/* One plug-in function of each API, with the declared type or the file does not compile. */
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  (void)instance;
  (void)requests;
  return request_count == 0 ? TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, "no requests")
                            : NULL;
}

struct TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ActionType action_type) {
  (void)agent;
  (void)model;
  return action_type == TRITONREPOAGENT_ACTION_LOAD
             ? TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNSUPPORTED, "cannot load")
             : NULL;
}

TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache) {
  return cache == NULL ? TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_NOT_FOUND, "no cache") : NULL;
}

static void CheckError(TRITONSERVER_Error* error, TRITONSERVER_Error_Code code,
                       const char* message) {
  CHECK(error != NULL);
  if (error != NULL) {
    CHECK(TRITONSERVER_ErrorCode(error) == code);
    CHECK(strcmp(TRITONSERVER_ErrorMessage(error), message) == 0);
  }
  TRITONSERVER_ErrorDelete(error);
}

static void TestErrorsOfPlugins(void) {
  CheckError(TRITONBACKEND_ModelInstanceExecute(NULL, NULL, 0), TRITONSERVER_ERROR_INVALID_ARG,
             "no requests");
  CheckError(TRITONREPOAGENT_ModelAction(NULL, NULL, TRITONREPOAGENT_ACTION_LOAD),
             TRITONSERVER_ERROR_UNSUPPORTED, "cannot load");
  CheckError(TRITONCACHE_CacheFinalize(NULL), TRITONSERVER_ERROR_NOT_FOUND, "no cache");
}

/* Functions called through pointers, whose types C checks as strictly as those of the functions. */
static void TestFunctionPointers(void) {
  TRITONSERVER_Error* (*const server)(uint32_t*, uint32_t*) = &TRITONSERVER_ApiVersion;
  TRITONSERVER_Error* (*const versions[])(uint32_t*, uint32_t*) = {server,
                                                                   &TRITONBACKEND_ApiVersion};
  const uint32_t majors[] = {TRITONSERVER_API_VERSION_MAJOR, TRITONBACKEND_API_VERSION_MAJOR};
  size_t i;
  for (i = 0; i < sizeof(versions) / sizeof(versions[0]); ++i) {
    uint32_t major = UINT32_MAX;
    uint32_t minor = UINT32_MAX;
    CHECK(versions[i](&major, &minor) == NULL);
    CHECK(major == majors[i]);
    CHECK(minor != UINT32_MAX);
  }
}

static void TestObjects(void) {
  struct TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_GPU;
  size_t byte_size = 1;
  bool enabled = TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_VERBOSE);

  CHECK(TRITONSERVER_BufferAttributesNew(&attributes) == NULL);
  CHECK(TRITONSERVER_BufferAttributesMemoryType(attributes, &memory_type) == NULL);
  CHECK(memory_type == TRITONSERVER_MEMORY_CPU);
  CHECK(TRITONSERVER_BufferAttributesSetByteSize(attributes, 64) == NULL);
  CHECK(TRITONSERVER_BufferAttributesByteSize(attributes, &byte_size) == NULL);
  CHECK(byte_size == 64);
  CHECK(TRITONSERVER_BufferAttributesDelete(attributes) == NULL);
  CHECK(!enabled);
}

int main(void) {
  TestErrorsOfPlugins();
  TestFunctionPointers();
  TestObjects();
  if (failures != 0) {
    fprintf(stderr, "%d checks failed\n", failures);
  }
  return failures == 0 ? 0 : 1;
}
