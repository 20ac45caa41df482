// SPDX-License-Identifier: Apache-2.0
#include "embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool Ok(TRITONSERVER_Error* error, const char* doing) {
  if (error == NULL) return true;
  fprintf(stderr, "error: %s: %s - %s\n", doing, TRITONSERVER_ErrorCodeString(error),
          TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
  return false;
}

TRITONSERVER_Server* StartServer(const char* repository, const char* backends) {
  TRITONSERVER_ServerOptions* options = NULL;
  TRITONSERVER_Server* server = NULL;
  if (!Ok(TRITONSERVER_ServerOptionsNew(&options), "creating options")) return NULL;
  const bool set =
      Ok(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository), "repository") &&
      // Models are loaded and unloaded by calls, and never by themselves.
      Ok(TRITONSERVER_ServerOptionsSetModelControlMode(options,
                                                       TRITONSERVER_MODEL_CONTROL_EXPLICIT),
         "control mode") &&
      // Backends complete the configuration from the model's file.
      Ok(TRITONSERVER_ServerOptionsSetStrictModelConfig(options, false), "model configuration") &&
      Ok(TRITONSERVER_ServerOptionsSetLogInfo(options, false), "log level") &&
      (backends == NULL ||
       Ok(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backends), "backends"));
  if (set) Ok(TRITONSERVER_ServerNew(&server, options), "starting the server");
  Ok(TRITONSERVER_ServerOptionsDelete(options), "deleting options");
  return server;
}

/* -- callbacks: they run on threads of the server and must not block ----------------------------
 */

static void OnResponse(TRITONSERVER_InferenceResponse* response, const uint32_t flags,
                       void* userp) {
  Exchange* exchange = userp;
  pthread_mutex_lock(&exchange->mutex);
  if (response != NULL && exchange->count < MOST_RESPONSES) {
    exchange->responses[exchange->count++] = response;
  } else if (response != NULL) {
    Ok(TRITONSERVER_InferenceResponseDelete(response), "deleting a response too many");
  }
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) exchange->answered = true;
  pthread_cond_broadcast(&exchange->changed);
  pthread_mutex_unlock(&exchange->mutex);
}

static void OnRelease(TRITONSERVER_InferenceRequest* request, const uint32_t flags, void* userp) {
  Exchange* exchange = userp;
  (void)request;
  if ((flags & TRITONSERVER_REQUEST_RELEASE_ALL) == 0) return;
  pthread_mutex_lock(&exchange->mutex);
  exchange->released = true;
  pthread_cond_broadcast(&exchange->changed);
  pthread_mutex_unlock(&exchange->mutex);
}

/* -- a request ----------------------------------------------------------------------------------
 */

bool Begin(Exchange* exchange, TRITONSERVER_Server* server, const char* model) {
  const int64_t newest_version = -1;
  memset(exchange, 0, sizeof(*exchange));
  pthread_mutex_init(&exchange->mutex, NULL);
  pthread_cond_init(&exchange->changed, NULL);
  exchange->answered = exchange->released = true;  // nothing is in flight
  return Ok(TRITONSERVER_InferenceRequestNew(&exchange->request, server, model, newest_version),
            "creating a request");
}

bool AddInput(Exchange* exchange, const char* name, TRITONSERVER_DataType type,
              const int64_t* shape, uint64_t dims, const void* data, size_t byte_size) {
  return Ok(TRITONSERVER_InferenceRequestAddInput(exchange->request, name, type, shape, dims),
            "adding an input") &&
         Ok(TRITONSERVER_InferenceRequestAppendInputData(exchange->request, name, data, byte_size,
                                                         TRITONSERVER_MEMORY_CPU, 0),
            "adding its data");
}

typedef TRITONSERVER_Error* (*Infer)(TRITONSERVER_Server*, TRITONSERVER_InferenceRequest*,
                                     TRITONSERVER_InferenceTrace*);

static bool SendBy(Infer infer, Exchange* exchange, TRITONSERVER_Server* server,
                   TRITONSERVER_ResponseAllocator* allocator) {
  exchange->answered = exchange->released = false;
  // If the server refuses the request, no callback runs.
  if (Ok(TRITONSERVER_InferenceRequestSetReleaseCallback(exchange->request, OnRelease, exchange),
         "release callback") &&
      Ok(TRITONSERVER_InferenceRequestSetResponseCallback(exchange->request, allocator, NULL,
                                                          OnResponse, exchange),
         "response callback") &&
      Ok(infer(server, exchange->request, NULL), "sending a request")) {
    return true;
  }
  exchange->answered = exchange->released = true;
  return false;
}

bool Send(Exchange* exchange, TRITONSERVER_Server* server,
          TRITONSERVER_ResponseAllocator* allocator) {
  return SendBy(TRITONSERVER_ServerInferAsync, exchange, server, allocator);
}

bool SendInline(Exchange* exchange, TRITONSERVER_Server* server,
                TRITONSERVER_ResponseAllocator* allocator) {
  return SendBy(NEREID_ServerInferInline, exchange, server, allocator);
}

TRITONSERVER_InferenceResponse* AwaitResponse(Exchange* exchange, size_t index) {
  pthread_mutex_lock(&exchange->mutex);
  while (exchange->count <= index && !exchange->answered) {
    pthread_cond_wait(&exchange->changed, &exchange->mutex);
  }
  TRITONSERVER_InferenceResponse* response =
      index < exchange->count ? exchange->responses[index] : NULL;
  pthread_mutex_unlock(&exchange->mutex);
  if (response == NULL) return NULL;
  // The error belongs to the response, and is not deleted.
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(response);
  if (error == NULL) return response;
  fprintf(stderr, "error: the answer is %s\n", TRITONSERVER_ErrorMessage(error));
  return NULL;
}

void Cancel(Exchange* exchange) {
  pthread_mutex_lock(&exchange->mutex);
  const bool ended = exchange->answered && exchange->released;
  pthread_mutex_unlock(&exchange->mutex);
  // Without the lock, because the callbacks may run within this call.
  if (!ended) Ok(TRITONSERVER_InferenceRequestCancel(exchange->request), "cancelling a request");
}

void End(Exchange* exchange) {
  Cancel(exchange);
  pthread_mutex_lock(&exchange->mutex);
  while (!exchange->answered || !exchange->released) {
    pthread_cond_wait(&exchange->changed, &exchange->mutex);
  }
  pthread_mutex_unlock(&exchange->mutex);
  for (size_t i = 0; i < exchange->count; ++i) {
    Ok(TRITONSERVER_InferenceResponseDelete(exchange->responses[i]), "deleting a response");
  }
  if (exchange->request != NULL) {
    Ok(TRITONSERVER_InferenceRequestDelete(exchange->request), "deleting a request");
  }
  pthread_cond_destroy(&exchange->changed);
  pthread_mutex_destroy(&exchange->mutex);
}

const void* Output(TRITONSERVER_InferenceResponse* response, const char* name,
                   TRITONSERVER_DataType type, size_t* byte_size) {
  uint32_t count = 0;
  if (!Ok(TRITONSERVER_InferenceResponseOutputCount(response, &count), "counting outputs")) {
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* output = NULL;
    TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
    const int64_t* shape = NULL;
    uint64_t dims = 0;
    const void* base = NULL;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
    int64_t memory_type_id = 0;
    void* userp = NULL;
    if (!Ok(TRITONSERVER_InferenceResponseOutput(response, i, &output, &data_type, &shape, &dims,
                                                 &base, byte_size, &memory_type, &memory_type_id,
                                                 &userp),
            "reading an output")) {
      return NULL;
    }
    if (strcmp(output, name) == 0 && data_type == type) return base;
  }
  fprintf(stderr, "error: the answer has no output '%s' of that type\n", name);
  return NULL;
}

/* -- an allocator -------------------------------------------------------------------------------
 */

static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator* allocator,
                                    const char* tensor_name, size_t byte_size,
                                    TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
                                    void* userp, void** buffer, void** buffer_userp,
                                    TRITONSERVER_MemoryType* actual_memory_type,
                                    int64_t* actual_memory_type_id) {
  (void)allocator, (void)tensor_name, (void)memory_type, (void)memory_type_id, (void)userp;
  *actual_memory_type = TRITONSERVER_MEMORY_CPU;  // whatever the server prefers
  *actual_memory_type_id = 0;
  *buffer_userp = NULL;
  *buffer = byte_size == 0 ? NULL : malloc(byte_size);
  if (byte_size == 0 || *buffer != NULL) return NULL;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "out of memory");
}

// Runs when the response is deleted.
static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator* allocator, void* buffer,
                                   void* buffer_userp, size_t byte_size,
                                   TRITONSERVER_MemoryType memory_type, int64_t memory_type_id) {
  (void)allocator, (void)buffer_userp, (void)byte_size, (void)memory_type, (void)memory_type_id;
  free(buffer);
  return NULL;
}

TRITONSERVER_ResponseAllocator* NewAllocator(void) {
  TRITONSERVER_ResponseAllocator* allocator = NULL;
  Ok(TRITONSERVER_ResponseAllocatorNew(&allocator, Allocate, Release, NULL), "an allocator");
  return allocator;
}
