// SPDX-License-Identifier: Apache-2.0
// A backend that repeats INPUT0 as OUTPUT0, and does one thing wrong: that which the name of its
// model says (tests/e2e/test_backend_check.py). "nothing" is right in everything.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "triton/core/tritonbackend.h"

static char fault[64] = "";  // the name of the model loaded last

static int Is(const char* name) { return strcmp(fault, name) == 0; }

static void Drop(TRITONSERVER_Error* error) {
  if (error != NULL) TRITONSERVER_ErrorDelete(error);
}

static uint64_t NowNs(void) {
  struct timespec now;
  clock_gettime(Is("other_clock") ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static TRITONSERVER_Error* NewError(const char* text) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, text);
}

static void Leave(size_t bytes) {
  volatile char* memory = malloc(bytes);
  if (memory != NULL) memory[0] = 1;
}

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  uint32_t major = 0, minor = 0;
  (void)backend;
  Drop(TRITONBACKEND_ApiVersion(&major, &minor));
#ifndef ANY_VERSION
  if (major != TRITONBACKEND_API_VERSION_MAJOR) return NewError("another major version");
#endif
  return NULL;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  const char* name = NULL;
  static int loads = 0;
  Drop(TRITONBACKEND_ModelName(model, &name));
  strncpy(fault, name, sizeof(fault) - 1);
  ++loads;
  if (Is("refuses_second_load") && loads > 1) return NewError("a model was here before");
  if (Is("returns_deleted_error")) {
    TRITONSERVER_Error* error = NewError("gone");
    TRITONSERVER_ErrorDelete(error);
    return error;
  }
  if (Is("leaves_thread")) {
    pthread_t thread;
    // In the C library, which stays when this one is unloaded.
    pthread_create(&thread, NULL, (void* (*)(void*))(void (*)(void)) & pause, NULL);
    pthread_detach(thread);
  }
  if (Is("leaves_descriptor")) (void)open("/dev/null", O_RDONLY);
  if (Is("leaves_process") && fork() == 0) _exit(0);
  if (Is("leaks_by_load")) Leave(50000);
  if (Is("crashes_on_load")) raise(SIGSEGV);
  return NULL;
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  (void)model;
  return Is("fails_to_finalize") ? NewError("no") : NULL;
}

// Copies the input into the only output of `response`.
static void Echo(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
  TRITONBACKEND_Input* input = NULL;
  TRITONBACKEND_Output* output = NULL;
  const int64_t* shape = NULL;
  uint32_t dims = 0;
  uint64_t bytes = 0;
  const void* from = NULL;
  void* to = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  const TRITONSERVER_DataType data_type =
      Is("wrong_type") ? TRITONSERVER_TYPE_INT32 : TRITONSERVER_TYPE_FP32;
  Drop(TRITONBACKEND_RequestInput(request, "INPUT0", &input));
  Drop(TRITONBACKEND_InputProperties(input, NULL, NULL, &shape, &dims, NULL, NULL));
  Drop(TRITONBACKEND_InputBuffer(input, 0, &from, &bytes, &type, &id));
  Drop(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", data_type, shape, dims));
  if (Is("no_buffer")) return;
  Drop(TRITONBACKEND_OutputBuffer(output, &to, Is("small_buffer") ? bytes / 2 : bytes, &type, &id));
  if (Is("unwritten")) return;
  memcpy(to, from, Is("small_buffer") ? bytes / 2 : bytes);
  if (Is("overrun")) memset((char*)to + bytes, 0, 4);
  if (Is("changes_input")) ((char*)(size_t)from)[0] ^= 1;
}

static void Report(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                   uint64_t start, int success) {
  const uint64_t end = NowNs();
  if (Is("no_statistics")) return;
  Drop(TRITONBACKEND_ModelInstanceReportStatistics(
      instance, request, success, start, Is("times_out_of_order") ? end + 5 : start, end, end));
  if (Is("statistics_twice")) {
    Drop(TRITONBACKEND_ModelInstanceReportStatistics(instance, request, success, start, start, end,
                                                     end));
  }
}

static void Answer(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                   uint64_t start) {
  TRITONBACKEND_Response* response = NULL;
  TRITONSERVER_Error* error = NULL;
  const char* id = NULL;
  Drop(TRITONBACKEND_ResponseNew(&response, request));
  Echo(request, response);
  if (Is("leaks_error") || Is("hides_failure")) error = NewError("on purpose");
  Drop(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  if (Is("hides_failure")) TRITONSERVER_ErrorDelete(error);
  if (Is("sends_twice")) {
    Drop(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  }
  if (Is("leaks_response")) Drop(TRITONBACKEND_ResponseNew(&response, request));
  if (Is("deletes_error_twice")) {
    error = NewError("on purpose");
    TRITONSERVER_ErrorDelete(error);
    TRITONSERVER_ErrorDelete(error);
  }
  if (Is("crashes")) raise(SIGSEGV);
  if (Is("exits")) _exit(0);
  Report(instance, request, start, error == NULL || !Is("leaks_error"));
  Drop(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
  if (Is("releases_twice")) {
    Drop(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
  }
  if (Is("uses_released")) Drop(TRITONBACKEND_RequestId(request, &id));
  if (Is("leaks_by_request")) Leave(500);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t count) {
  const uint64_t start = NowNs();
  for (uint32_t i = 0; i < count; ++i) {
    if (Is("forgets_request") && i + 1 == count && count > 1) break;
    Answer(instance, requests[i], start);
  }
  const uint64_t end = NowNs();
  if (!Is("no_batch_statistics") && !Is("no_statistics")) {
    Drop(TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, count, start, start, end, end));
  }
  while (Is("hangs")) pause();
  return Is("fails_after_release") ? NewError("on purpose") : NULL;
}

#ifdef MISSPELT
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalise(
    TRITONBACKEND_ModelInstance* instance) {
  (void)instance;
  return NULL;
}
#endif
