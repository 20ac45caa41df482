// SPDX-License-Identifier: Apache-2.0
// What the programs in this folder share: errors, a server that loads models when told to, a
// request with its answers, and an allocator for outputs.
#ifndef EMBED_H_
#define EMBED_H_

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nereid/server.h"  // for SendInline() alone
#include "triton/core/tritonserver.h"

#define MOST_RESPONSES 64

// True if there is no error; otherwise says what failed, and deletes the error.
bool Ok(TRITONSERVER_Error* error, const char* doing);

// A server on the repository without a model, and without a network. NULL if it does not start.
// `backends`: the folder of the backends, or NULL for that of the installation.
TRITONSERVER_Server* StartServer(const char* repository, const char* backends);

// One request in flight, and what comes back for it. Several may be in flight at a time.
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  TRITONSERVER_InferenceRequest* request;
  TRITONSERVER_InferenceResponse* responses[MOST_RESPONSES];
  size_t count;   // of the responses
  bool answered;  // the last response has come
  bool released;  // the server no longer uses the request
} Exchange;

// A request without inputs, which End() frees in any case. False if there is no such model.
bool Begin(Exchange* exchange, TRITONSERVER_Server* server, const char* model);
// Adds an input. Only the pointer is kept: `data` has to outlive the request.
bool AddInput(Exchange* exchange, const char* name, TRITONSERVER_DataType type,
              const int64_t* shape, uint64_t dims, const void* data, size_t byte_size);
// Sends the request, and returns at once. False if the server refuses it.
bool Send(Exchange* exchange, TRITONSERVER_Server* server,
          TRITONSERVER_ResponseAllocator* allocator);
// As Send(), for a caller that waits anyway: lends its thread to the server, which executes a short
// model there if it can. The answer has come then when the function returns.
bool SendInline(Exchange* exchange, TRITONSERVER_Server* server,
                TRITONSERVER_ResponseAllocator* allocator);
// Waits until response number `index` has come, or until it is clear that there is none. NULL then,
// and for a response that is an error. The response belongs to the exchange.
TRITONSERVER_InferenceResponse* AwaitResponse(Exchange* exchange, size_t index);
// Asks the server to give the request up, from any thread. What follows is the answer to that:
// often an error. Does nothing for a request that has ended. The request can be cancelled until
// End(), also if the model has released it and goes on answering.
void Cancel(Exchange* exchange);
// Cancels the request if it has not ended, waits until the server has done with it, and frees
// everything.
void End(Exchange* exchange);

// The bytes of an output, which belong to the response. NULL if it has none of this name and type.
const void* Output(TRITONSERVER_InferenceResponse* response, const char* name,
                   TRITONSERVER_DataType type, size_t* byte_size);

// An allocator that takes the memory of each output from malloc().
TRITONSERVER_ResponseAllocator* NewAllocator(void);

#endif  // EMBED_H_
