// The inference server inside your own C program, without a network: starts a server on a model
// repository, asks the model `digits` which digit an image shows, prints the answer, and shuts
// everything down.
//
//   in_process [MODEL_REPOSITORY [BACKEND_DIRECTORY]]
//
// Exit status: 0 the answer is right, 1 something failed or the answer is wrong.
//
// C99 and POSIX threads. The API calls the two callbacks of a request on a thread of the server, so
// the main thread waits on a condition variable for them: the response, and the release of the
// request. They come in either order.

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "triton/core/tritonserver.h"

#define MODEL "digits"
#define PIXELS 64
#define CLASSES 10
#define TRUE_DIGIT 3
#define READY_SECONDS 30

// Image 3 of scikit-learn's digits: 8x8 pixels from 0 (paper) to 16 (ink).
static const float kImage[PIXELS] = {
    0, 0, 7,  15, 13, 1,  0, 0,  //
    0, 8, 13, 6,  15, 4,  0, 0,  //
    0, 2, 1,  13, 13, 0,  0, 0,  //
    0, 0, 2,  15, 11, 1,  0, 0,  //
    0, 0, 0,  1,  12, 12, 1, 0,  //
    0, 0, 0,  0,  1,  10, 8, 0,  //
    0, 0, 8,  4,  5,  14, 9, 0,  //
    0, 0, 7,  13, 13, 9,  0, 0,
};

// The results that the callbacks of one request leave for the main thread.
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  TRITONSERVER_InferenceResponse* response;  // ours to delete
  bool answered;                             // the final response has arrived
  bool released;                             // the request is ours again
} Exchange;

// True on success; otherwise says what failed and frees the error.
static bool Ok(TRITONSERVER_Error* error, const char* doing) {
  if (error == NULL) return true;
  fprintf(stderr, "error: %s: %s - %s\n", doing, TRITONSERVER_ErrorCodeString(error),
          TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
  return false;
}

/* -- callbacks --------------------------------------------------------------------------------- */
// These callbacks run on threads of the server and must not block.

// The server asks where to put an output tensor. This allocates one block per tensor.
static TRITONSERVER_Error* AllocateOutput(TRITONSERVER_ResponseAllocator* allocator,
                                          const char* tensor_name, size_t byte_size,
                                          TRITONSERVER_MemoryType memory_type,
                                          int64_t memory_type_id, void* userp, void** buffer,
                                          void** buffer_userp,
                                          TRITONSERVER_MemoryType* actual_memory_type,
                                          int64_t* actual_memory_type_id) {
  (void)allocator, (void)tensor_name, (void)memory_type, (void)memory_type_id, (void)userp;
  *actual_memory_type = TRITONSERVER_MEMORY_CPU;  // whatever the server prefers
  *actual_memory_type_id = 0;
  *buffer_userp = NULL;
  *buffer = NULL;
  if (byte_size == 0) return NULL;
  *buffer = malloc(byte_size);
  if (*buffer == NULL) return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "out of memory");
  return NULL;
}

// Called when the response, and with it this buffer, is deleted.
static TRITONSERVER_Error* ReleaseOutput(TRITONSERVER_ResponseAllocator* allocator, void* buffer,
                                         void* buffer_userp, size_t byte_size,
                                         TRITONSERVER_MemoryType memory_type,
                                         int64_t memory_type_id) {
  (void)allocator, (void)buffer_userp, (void)byte_size, (void)memory_type, (void)memory_type_id;
  free(buffer);
  return NULL;
}

// The server no longer uses the request.
static void OnRelease(TRITONSERVER_InferenceRequest* request, const uint32_t flags, void* userp) {
  (void)request;
  Exchange* exchange = userp;
  if ((flags & TRITONSERVER_REQUEST_RELEASE_ALL) == 0) return;
  pthread_mutex_lock(&exchange->mutex);
  exchange->released = true;
  pthread_cond_signal(&exchange->changed);
  pthread_mutex_unlock(&exchange->mutex);
}

// A response; this model sends exactly one per request.
static void OnResponse(TRITONSERVER_InferenceResponse* response, const uint32_t flags,
                       void* userp) {
  Exchange* exchange = userp;
  pthread_mutex_lock(&exchange->mutex);
  if (response != NULL) exchange->response = response;
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) exchange->answered = true;
  pthread_cond_signal(&exchange->changed);
  pthread_mutex_unlock(&exchange->mutex);
}

/* -- the server -------------------------------------------------------------------------------- */

// Starts a server on the repository; loads its models. NULL on failure.
static TRITONSERVER_Server* StartServer(const char* repository, const char* backends) {
  TRITONSERVER_ServerOptions* options = NULL;
  TRITONSERVER_Server* server = NULL;
  if (!Ok(TRITONSERVER_ServerOptionsNew(&options), "creating options")) return NULL;
  const bool configured =
      Ok(TRITONSERVER_ServerOptionsSetServerId(options, "in_process"), "server id") &&
      Ok(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository), "repository") &&
      Ok(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backends), "backend directory") &&
      // Load the models in the repository once; do not look for changes later.
      Ok(TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_NONE),
         "control mode") &&
      // `digits` has no configuration file; the backend derives one from the model.
      Ok(TRITONSERVER_ServerOptionsSetStrictModelConfig(options, false), "model configuration") &&
      Ok(TRITONSERVER_ServerOptionsSetLogInfo(options, false), "log level");
  if (configured) Ok(TRITONSERVER_ServerNew(&server, options), "starting the server");
  Ok(TRITONSERVER_ServerOptionsDelete(options), "deleting options");
  return server;
}

// Waits until all models are ready. ServerNew has loaded them, so this is normally immediate.
static bool WaitReady(TRITONSERVER_Server* server) {
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = 100 * 1000 * 1000};
  for (int tries = 0; tries < READY_SECONDS * 10; ++tries) {
    bool ready = false;
    if (!Ok(TRITONSERVER_ServerIsReady(server, &ready), "asking for readiness")) return false;
    if (ready) return true;
    nanosleep(&pause, NULL);
  }
  fprintf(stderr, "error: the server is not ready after %d seconds\n", READY_SECONDS);
  return false;
}

/* -- the request ------------------------------------------------------------------------------- */

// A request that carries the image. The image must outlive it: only the pointer is kept.
static TRITONSERVER_InferenceRequest* NewRequest(TRITONSERVER_Server* server,
                                                 TRITONSERVER_ResponseAllocator* allocator,
                                                 Exchange* exchange) {
  const int64_t shape[] = {1, PIXELS};  // a batch of one
  const int64_t newest_version = -1;
  TRITONSERVER_InferenceRequest* request = NULL;
  if (!Ok(TRITONSERVER_InferenceRequestNew(&request, server, MODEL, newest_version),
          "creating a request")) {
    return NULL;
  }
  if (Ok(TRITONSERVER_InferenceRequestSetId(request, "image 3"), "request id") &&
      Ok(TRITONSERVER_InferenceRequestAddInput(request, "image", TRITONSERVER_TYPE_FP32, shape,
                                               sizeof(shape) / sizeof(shape[0])),
         "adding the input") &&
      Ok(TRITONSERVER_InferenceRequestAppendInputData(request, "image", kImage, sizeof(kImage),
                                                      TRITONSERVER_MEMORY_CPU, 0),
         "adding the data") &&
      Ok(TRITONSERVER_InferenceRequestAddRequestedOutput(request, "digit"), "output digit") &&
      Ok(TRITONSERVER_InferenceRequestAddRequestedOutput(request, "probabilities"),
         "output probabilities") &&
      Ok(TRITONSERVER_InferenceRequestSetReleaseCallback(request, OnRelease, exchange),
         "release callback") &&
      Ok(TRITONSERVER_InferenceRequestSetResponseCallback(request, allocator, NULL, OnResponse,
                                                          exchange),
         "response callback")) {
    return request;
  }
  Ok(TRITONSERVER_InferenceRequestDelete(request), "deleting the request");
  return NULL;
}

// Sends the request and waits for both callbacks. NULL if it was refused.
static TRITONSERVER_InferenceResponse* Infer(TRITONSERVER_Server* server,
                                             TRITONSERVER_InferenceRequest* request,
                                             Exchange* exchange) {
  // On an error the request stays ours and no callback runs.
  if (!Ok(TRITONSERVER_ServerInferAsync(server, request, NULL), "sending the request")) return NULL;
  pthread_mutex_lock(&exchange->mutex);
  while (!exchange->answered || !exchange->released) {
    pthread_cond_wait(&exchange->changed, &exchange->mutex);
  }
  TRITONSERVER_InferenceResponse* response = exchange->response;
  pthread_mutex_unlock(&exchange->mutex);
  return response;
}

/* -- the answer -------------------------------------------------------------------------------- */

// Copies the output `name`, which must have this type and size.
static bool ReadOutput(TRITONSERVER_InferenceResponse* response, const char* name,
                       TRITONSERVER_DataType datatype, void* destination, size_t byte_size) {
  uint32_t count = 0;
  if (!Ok(TRITONSERVER_InferenceResponseOutputCount(response, &count), "counting outputs")) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* output = NULL;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    const int64_t* shape = NULL;
    uint64_t dim_count = 0;
    const void* base = NULL;
    size_t size = 0;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
    int64_t memory_type_id = 0;
    void* buffer_userp = NULL;
    if (!Ok(TRITONSERVER_InferenceResponseOutput(response, i, &output, &type, &shape, &dim_count,
                                                 &base, &size, &memory_type, &memory_type_id,
                                                 &buffer_userp),
            "reading an output")) {
      return false;
    }
    if (strcmp(output, name) != 0) continue;
    if (type != datatype || size != byte_size) {
      fprintf(stderr, "error: output '%s' is %zu bytes of %s, expected %zu of %s\n", name, size,
              TRITONSERVER_DataTypeString(type), byte_size, TRITONSERVER_DataTypeString(datatype));
      return false;
    }
    memcpy(destination, base, byte_size);
    return true;
  }
  fprintf(stderr, "error: the answer has no output '%s'\n", name);
  return false;
}

static void DrawImage(void) {
  const char ink[] = " .:-=+*#%@";
  for (int pixel = 0; pixel < PIXELS; ++pixel) {
    const char level = ink[(int)kImage[pixel] * 9 / 16];
    printf("%s%c%c%s", pixel % 8 == 0 ? "    " : "", level, level, pixel % 8 == 7 ? "\n" : "");
  }
}

// Prints the answer; true if it is the right one.
static bool PrintAnswer(TRITONSERVER_InferenceResponse* response) {
  int64_t digit = -1;
  float probabilities[CLASSES] = {0};
  const char* model = NULL;
  int64_t version = 0;
  if (!Ok(TRITONSERVER_InferenceResponseError(response), "inference") ||
      !Ok(TRITONSERVER_InferenceResponseModel(response, &model, &version), "reading the model") ||
      !ReadOutput(response, "digit", TRITONSERVER_TYPE_INT64, &digit, sizeof(digit)) ||
      !ReadOutput(response, "probabilities", TRITONSERVER_TYPE_FP32, probabilities,
                  sizeof(probabilities))) {
    return false;
  }
  if (digit < 0 || digit >= CLASSES) {
    fprintf(stderr, "error: %" PRId64 " is not a digit\n", digit);
    return false;
  }
  DrawImage();
  printf("%s version %" PRId64 ", in-process: this is a %" PRId64 " (probability %.1f%%)\n", model,
         version, digit, 100.0 * probabilities[digit]);
  if (digit != TRUE_DIGIT) {
    printf("wrong: the image shows a %d\n", TRUE_DIGIT);
    return false;
  }
  printf("right\n");
  return true;
}

// Sends one request to a ready server; frees everything that it creates.
static bool Ask(TRITONSERVER_Server* server) {
  Exchange exchange = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  TRITONSERVER_ResponseAllocator* allocator = NULL;
  bool right = false;
  if (!Ok(TRITONSERVER_ResponseAllocatorNew(&allocator, AllocateOutput, ReleaseOutput, NULL),
          "creating an allocator")) {
    return false;
  }
  TRITONSERVER_InferenceRequest* request = NewRequest(server, allocator, &exchange);
  if (request != NULL) {
    TRITONSERVER_InferenceResponse* response = Infer(server, request, &exchange);
    if (response != NULL) {
      right = PrintAnswer(response);
      right = Ok(TRITONSERVER_InferenceResponseDelete(response), "deleting the answer") && right;
    }
    right = Ok(TRITONSERVER_InferenceRequestDelete(request), "deleting the request") && right;
  }
  right = Ok(TRITONSERVER_ResponseAllocatorDelete(allocator), "deleting the allocator") && right;
  pthread_cond_destroy(&exchange.changed);
  pthread_mutex_destroy(&exchange.mutex);
  return right;
}

int main(int argc, char** argv) {
  const char* repository = argc > 1 ? argv[1] : DEFAULT_REPOSITORY;
  const char* backends = argc > 2 ? argv[2] : DEFAULT_BACKENDS;

  uint32_t major = 0;
  uint32_t minor = 0;
  if (!Ok(TRITONSERVER_ApiVersion(&major, &minor), "asking for the API version")) return 1;
  if (major != TRITONSERVER_API_VERSION_MAJOR || minor < TRITONSERVER_API_VERSION_MINOR) {
    fprintf(stderr, "error: the library's API is %" PRIu32 ".%" PRIu32 ", this needs %d.%d\n",
            major, minor, TRITONSERVER_API_VERSION_MAJOR, TRITONSERVER_API_VERSION_MINOR);
    return 1;
  }

  TRITONSERVER_Server* server = StartServer(repository, backends);
  if (server == NULL) return 1;
  bool right = WaitReady(server) && Ask(server);
  // Waits for requests in progress, unloads the models, and frees the server.
  right = Ok(TRITONSERVER_ServerDelete(server), "deleting the server") && right;
  return right ? 0 : 1;
}
