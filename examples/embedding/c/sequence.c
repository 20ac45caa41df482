// SPDX-License-Identifier: Apache-2.0
// Sends two sequences of requests to the model `running_total`, by turns. All requests of a
// sequence have the same id and go to the same instance, which keeps their sum.
//
//   sequence REPOSITORY [BACKENDS]    for instance: sequence examples/embedding/models
#include <stdio.h>

#include "embed.h"

#define LENGTH 3

// The sum after one more value of the sequence; a negative number if there is no answer.
static float Add(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
                 uint64_t sequence, uint32_t flags, float value) {
  const int64_t shape[] = {1};
  Exchange exchange;
  float total = -1;
  size_t byte_size = 0;
  if (Begin(&exchange, server, "running_total") &&
      AddInput(&exchange, "VALUE", TRITONSERVER_TYPE_FP32, shape, 1, &value, sizeof(value)) &&
      Ok(TRITONSERVER_InferenceRequestSetCorrelationId(exchange.request, sequence), "sequence") &&
      Ok(TRITONSERVER_InferenceRequestSetFlags(exchange.request, flags), "flags") &&
      Send(&exchange, server, allocator)) {
    TRITONSERVER_InferenceResponse* response = AwaitResponse(&exchange, 0);
    const float* sum =
        response == NULL ? NULL : Output(response, "TOTAL", TRITONSERVER_TYPE_FP32, &byte_size);
    if (sum != NULL && byte_size == sizeof(*sum)) total = *sum;
  }
  End(&exchange);
  return total;
}

static bool AddUp(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  for (int step = 0; step < LENGTH; ++step) {
    const uint32_t flags = (step == 0 ? TRITONSERVER_REQUEST_FLAG_SEQUENCE_START : 0) |
                           (step + 1 == LENGTH ? TRITONSERVER_REQUEST_FLAG_SEQUENCE_END : 0);
    const float ones = Add(server, allocator, 1, flags, 1);
    const float tens = Add(server, allocator, 2, flags, 10);
    printf("after %d: %g and %g\n", step + 1, ones, tens);
    if (ones < 0 || tens < 0) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: sequence REPOSITORY [BACKENDS]\n");
    return 2;
  }
  TRITONSERVER_Server* server = StartServer(argv[1], argc > 2 ? argv[2] : NULL);
  if (server == NULL) return 1;
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  bool good = allocator != NULL &&
              Ok(TRITONSERVER_ServerLoadModel(server, "running_total"), "loading") &&
              AddUp(server, allocator);
  good = Ok(TRITONSERVER_ServerDelete(server), "deleting the server") && good;
  Ok(TRITONSERVER_ResponseAllocatorDelete(allocator), "deleting the allocator");
  return good ? 0 : 1;
}
