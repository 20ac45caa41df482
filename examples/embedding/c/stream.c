// SPDX-License-Identifier: Apache-2.0
// Asks the decoupled model `countdown`, which answers one request with many responses, and takes
// each response when it comes. The last one may be empty: a flag ends the stream. Then asks for
// more than it wants to hear, and gives up after two: what the model has not sent yet it does not
// send.
//
//   stream REPOSITORY [BACKENDS]      for instance: stream examples/embedding/models
#include <inttypes.h>
#include <stdio.h>

#include "embed.h"

// Prints the numbers, `most` at most; the count of them.
static int PrintStream(Exchange* exchange, int most) {
  int count = 0;
  TRITONSERVER_InferenceResponse* response = NULL;
  while (count < most && (response = AwaitResponse(exchange, (size_t)count)) != NULL) {
    size_t byte_size = 0;
    const int32_t* number = Output(response, "NUMBER", TRITONSERVER_TYPE_INT32, &byte_size);
    if (number == NULL || byte_size != sizeof(*number)) break;
    printf("%s%" PRId32, count > 0 ? " " : "", *number);
    ++count;
  }
  printf("\n");
  return count;
}

// Counts down from `from`. Whether `most` numbers have come.
static bool Count(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
                  int32_t from, int most) {
  const int64_t shape[] = {1};
  Exchange exchange;
  const bool sent =
      Begin(&exchange, server, "countdown") &&
      AddInput(&exchange, "FROM", TRITONSERVER_TYPE_INT32, shape, 1, &from, sizeof(from)) &&
      Send(&exchange, server, allocator);
  const int count = sent ? PrintStream(&exchange, most) : 0;
  End(&exchange);  // cancels what has not come yet
  return count == most;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: stream REPOSITORY [BACKENDS]\n");
    return 2;
  }
  TRITONSERVER_Server* server = StartServer(argv[1], argc > 2 ? argv[2] : NULL);
  if (server == NULL) return 1;
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  bool good = allocator != NULL &&
              Ok(TRITONSERVER_ServerLoadModel(server, "countdown"), "loading") &&
              Count(server, allocator, 5, 5) && Count(server, allocator, 600, 2);
  good = Ok(TRITONSERVER_ServerDelete(server), "deleting the server") && good;
  Ok(TRITONSERVER_ResponseAllocatorDelete(allocator), "deleting the allocator");
  return good ? 0 : 1;
}
