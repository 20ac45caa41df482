// Asks the decoupled model `countdown`, which answers one request with many responses, and takes
// each response when it comes. The last one may be empty: a flag ends the stream.
//
//   stream REPOSITORY [BACKENDS]      for instance: stream examples/embedding/models
#include <inttypes.h>
#include <stdio.h>

#include "embed.h"

// Prints the numbers; the count of them.
static int PrintStream(Exchange* exchange) {
  int count = 0;
  TRITONSERVER_InferenceResponse* response = NULL;
  while ((response = AwaitResponse(exchange, (size_t)count)) != NULL) {
    size_t byte_size = 0;
    const int32_t* number = Output(response, "NUMBER", TRITONSERVER_TYPE_INT32, &byte_size);
    if (number == NULL || byte_size != sizeof(*number)) break;
    printf("%" PRId32 "%s", *number, *number > 1 ? " " : "\n");
    ++count;
  }
  return count;
}

static bool Ask(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  const int64_t shape[] = {1};
  const int32_t from = 5;
  Exchange exchange;
  const bool sent =
      Begin(&exchange, server, "countdown") &&
      AddInput(&exchange, "FROM", TRITONSERVER_TYPE_INT32, shape, 1, &from, sizeof(from)) &&
      Send(&exchange, server, allocator);
  const int count = sent ? PrintStream(&exchange) : 0;
  End(&exchange);
  return count == from;
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
              Ask(server, allocator);
  good = Ok(TRITONSERVER_ServerDelete(server), "deleting the server") && good;
  Ok(TRITONSERVER_ResponseAllocatorDelete(allocator), "deleting the allocator");
  return good ? 0 : 1;
}
