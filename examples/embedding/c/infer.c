// SPDX-License-Identifier: Apache-2.0
// Loads the model `digits`, asks it which digit an image shows and waits for the answer, which the
// model may compute on the thread that waits; then sends eight requests at once and takes the
// answers as they come. The outputs are written into memory of
// the program's own allocator (NewAllocator in embed.c).
//
//   infer REPOSITORY [BACKENDS]       for instance: infer examples/models
#include <inttypes.h>
#include <stdio.h>

#include "embed.h"

#define PIXELS 64
#define AT_ONCE 8

// 8x8 pixels from 0 (paper) to 16 (ink): a three.
static const float kImage[PIXELS] = {
    0, 0, 7,  15, 13, 1,  0, 0,  //
    0, 8, 13, 6,  15, 4,  0, 0,  //
    0, 2, 1,  13, 13, 0,  0, 0,  //
    0, 0, 2,  15, 11, 1,  0, 0,  //
    0, 0, 0,  1,  12, 12, 1, 0,  //
    0, 0, 0,  0,  1,  10, 8, 0,  //
    0, 0, 8,  4,  5,  14, 9, 0,  //
    0, 0, 7,  13, 13, 9,  0, 0,  //
};

typedef bool (*Way)(Exchange*, TRITONSERVER_Server*, TRITONSERVER_ResponseAllocator*);

static bool SendImage(Exchange* exchange, TRITONSERVER_Server* server,
                      TRITONSERVER_ResponseAllocator* allocator, Way send) {
  const int64_t shape[] = {1, PIXELS};  // a batch of one image
  return Begin(exchange, server, "digits") &&
         AddInput(exchange, "image", TRITONSERVER_TYPE_FP32, shape, 2, kImage, sizeof(kImage)) &&
         send(exchange, server, allocator);
}

// The digit in the answer; -1 if there is none.
static int64_t AwaitDigit(Exchange* exchange) {
  size_t byte_size = 0;
  TRITONSERVER_InferenceResponse* response = AwaitResponse(exchange, 0);
  if (response == NULL) return -1;
  const int64_t* digit = Output(response, "digit", TRITONSERVER_TYPE_INT64, &byte_size);
  return digit == NULL || byte_size != sizeof(*digit) ? -1 : *digit;
}

static bool AskOnce(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Exchange exchange;
  const bool sent = SendImage(&exchange, server, allocator, SendInline);
  const int64_t digit = sent ? AwaitDigit(&exchange) : -1;
  printf("this is a %" PRId64 "\n", digit);
  End(&exchange);
  return digit >= 0;
}

static bool AskAtOnce(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Exchange exchanges[AT_ONCE];
  bool sent[AT_ONCE];
  int answered = 0;
  for (int i = 0; i < AT_ONCE; ++i) {
    sent[i] = SendImage(&exchanges[i], server, allocator, Send);
  }
  for (int i = 0; i < AT_ONCE; ++i) {
    if (sent[i] && AwaitDigit(&exchanges[i]) >= 0) ++answered;
    End(&exchanges[i]);
  }
  printf("%d of %d requests in flight were answered\n", answered, AT_ONCE);
  return answered == AT_ONCE;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: infer REPOSITORY [BACKENDS]\n");
    return 2;
  }
  TRITONSERVER_Server* server = StartServer(argv[1], argc > 2 ? argv[2] : NULL);
  if (server == NULL) return 1;
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  bool good = allocator != NULL && Ok(TRITONSERVER_ServerLoadModel(server, "digits"), "loading") &&
              AskOnce(server, allocator) && AskAtOnce(server, allocator);
  // Waits for requests in flight and unloads the models; then nothing uses the allocator any more.
  good = Ok(TRITONSERVER_ServerDelete(server), "deleting the server") && good;
  Ok(TRITONSERVER_ResponseAllocatorDelete(allocator), "deleting the allocator");
  return good ? 0 : 1;
}
