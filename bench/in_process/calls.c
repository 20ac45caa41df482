// SPDX-License-Identifier: Apache-2.0
/* Latency of a request inside the process, by the C API: a call and its answer, one at a time.
 *
 *   calls MODELS BACKENDS MODEL WAY COUNT
 *
 * WAY is `blocking` (NEREID_ServerInferInline) or `asynchronous` (TRITONSERVER_ServerInferAsync,
 * and a wait on a condition). MODEL has an input INPUT0 and an output OUTPUT0 of 16 FP32, and
 * repeats the one as the other, which is checked. Prints COUNT times in nanoseconds, one a line. It
 * runs with any libtritonserver.so that the loader finds; exits with 3 if that one lacks
 * NEREID_ServerInferInline. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "triton/core/tritonserver.h"

enum { kValues = 16, kWarmUp = 2000, kLacksFunction = 3 };

typedef struct TRITONSERVER_Error* (*Issue)(struct TRITONSERVER_Server*,
                                            struct TRITONSERVER_InferenceRequest*,
                                            struct TRITONSERVER_InferenceTrace*);

/* One request at a time uses these. */
static float input[kValues];
static float output[kValues];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int open_ends; /* of the request: its answer and its release; guarded by mutex */

static void check(struct TRITONSERVER_Error* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", TRITONSERVER_ErrorMessage(error));
  exit(1);
}

static void end_one(void) {
  pthread_mutex_lock(&mutex);
  if (--open_ends == 0) pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static struct TRITONSERVER_Error* allocate(struct TRITONSERVER_ResponseAllocator* allocator,
                                           const char* name, size_t size,
                                           TRITONSERVER_MemoryType type, int64_t id, void* userp,
                                           void** buffer, void** buffer_userp,
                                           TRITONSERVER_MemoryType* actual_type,
                                           int64_t* actual_id) {
  (void)allocator, (void)name, (void)type, (void)id, (void)userp;
  if (size > sizeof(output)) abort();
  *buffer = output;
  *buffer_userp = NULL;
  *actual_type = TRITONSERVER_MEMORY_CPU;
  *actual_id = 0;
  return NULL;
}

static struct TRITONSERVER_Error* release(struct TRITONSERVER_ResponseAllocator* allocator,
                                          void* buffer, void* buffer_userp, size_t size,
                                          TRITONSERVER_MemoryType type, int64_t id) {
  (void)allocator, (void)buffer, (void)buffer_userp, (void)size, (void)type, (void)id;
  return NULL;
}

static void on_response(struct TRITONSERVER_InferenceResponse* response, const uint32_t flags,
                        void* userp) {
  (void)userp;
  if (response != NULL) {
    check(TRITONSERVER_InferenceResponseError(response));
    check(TRITONSERVER_InferenceResponseDelete(response));
  }
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) end_one();
}

static void on_release(struct TRITONSERVER_InferenceRequest* request, const uint32_t flags,
                       void* userp) {
  (void)flags, (void)userp;
  check(TRITONSERVER_InferenceRequestDelete(request));
  end_one();
}

static struct TRITONSERVER_Server* start(const char* models, const char* backends) {
  struct TRITONSERVER_ServerOptions* options = NULL;
  struct TRITONSERVER_Server* server = NULL;
  check(TRITONSERVER_ServerOptionsNew(&options));
  check(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, models));
  check(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backends));
  check(TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_NONE));
  check(TRITONSERVER_ServerOptionsSetLogInfo(options, false));
  check(TRITONSERVER_ServerNew(&server, options));
  check(TRITONSERVER_ServerOptionsDelete(options));
  return server;
}

static void ask(struct TRITONSERVER_Server* server, const char* model,
                struct TRITONSERVER_ResponseAllocator* allocator, Issue issue) {
  const int64_t shape[] = {kValues};
  struct TRITONSERVER_InferenceRequest* request = NULL;
  open_ends = 2;
  check(TRITONSERVER_InferenceRequestNew(&request, server, model, -1));
  check(TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32, shape, 1));
  check(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", input, sizeof(input),
                                                     TRITONSERVER_MEMORY_CPU, 0));
  check(TRITONSERVER_InferenceRequestSetReleaseCallback(request, on_release, NULL));
  check(TRITONSERVER_InferenceRequestSetResponseCallback(request, allocator, NULL, on_response,
                                                         NULL));
  check(issue(server, request, NULL));
  pthread_mutex_lock(&mutex);
  while (open_ends > 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: calls MODELS BACKENDS MODEL blocking|asynchronous COUNT\n");
    return 2;
  }
  const int count = atoi(argv[5]);
  Issue issue = TRITONSERVER_ServerInferAsync;
  if (strcmp(argv[4], "blocking") == 0) {
    *(void**)&issue = dlsym(RTLD_DEFAULT, "NEREID_ServerInferInline");
    if (issue == NULL) return kLacksFunction;
  }
  struct TRITONSERVER_ResponseAllocator* allocator = NULL;
  struct TRITONSERVER_Server* server = start(argv[1], argv[2]);
  check(TRITONSERVER_ResponseAllocatorNew(&allocator, allocate, release, NULL));
  for (int i = 0; i < kWarmUp + count; ++i) {
    for (int k = 0; k < kValues; ++k) input[k] = (float)(i + k);
    const int64_t begin = now();
    ask(server, argv[3], allocator, issue);
    const int64_t took = now() - begin;
    if (memcmp(input, output, sizeof(input)) != 0) {
      fprintf(stderr, "the answer is not the question\n");
      return 1;
    }
    if (i >= kWarmUp) printf("%lld\n", (long long)took);
  }
  check(TRITONSERVER_ServerDelete(server));
  check(TRITONSERVER_ResponseAllocatorDelete(allocator));
  return 0;
}
