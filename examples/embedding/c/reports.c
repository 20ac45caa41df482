// SPDX-License-Identifier: Apache-2.0
// What a server says about itself: the models of its repository, a model's statistics, and the
// metrics page. Then unloads the model, and ends the server in two steps.
//
//   reports REPOSITORY [BACKENDS]     for instance: reports examples/models
#include <stdio.h>
#include <string.h>

#include "embed.h"

// Prints a message of the server, which is JSON, and deletes it.
static bool PrintMessage(TRITONSERVER_Error* error, TRITONSERVER_Message** message,
                         const char* what) {
  const char* text = NULL;
  size_t size = 0;
  if (!Ok(error, what)) return false;
  const bool good = Ok(TRITONSERVER_MessageSerializeToJson(*message, &text, &size), what);
  if (good) printf("%s: %.*s\n", what, (int)size, text);
  return Ok(TRITONSERVER_MessageDelete(*message), what) && good;
}

// Prints the lines of the metrics page that count requests.
static bool PrintMetrics(TRITONSERVER_Server* server) {
  TRITONSERVER_Metrics* metrics = NULL;
  const char* text = NULL;
  size_t size = 0;
  if (!Ok(TRITONSERVER_ServerMetrics(server, &metrics), "metrics")) return false;
  const bool good =
      Ok(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &text, &size),
         "formatting metrics");
  for (const char* line = text; good && line < text + size;) {
    const char* end = memchr(line, '\n', (size_t)(text + size - line));
    if (end == NULL) end = text + size;
    if (strncmp(line, "nv_inference_request_success", 28) == 0) {
      printf("%.*s\n", (int)(end - line), line);
    }
    line = end + 1;
  }
  return Ok(TRITONSERVER_MetricsDelete(metrics), "deleting metrics") && good;
}

static bool Report(TRITONSERVER_Server* server) {
  TRITONSERVER_Message* message = NULL;
  return PrintMessage(TRITONSERVER_ServerModelIndex(server, 0, &message), &message, "models") &&
         PrintMessage(TRITONSERVER_ServerModelStatistics(server, "digits", -1, &message), &message,
                      "statistics") &&
         PrintMetrics(server);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: reports REPOSITORY [BACKENDS]\n");
    return 2;
  }
  TRITONSERVER_Server* server = StartServer(argv[1], argc > 2 ? argv[2] : NULL);
  if (server == NULL) return 1;
  bool good = Ok(TRITONSERVER_ServerLoadModel(server, "digits"), "loading") && Report(server) &&
              // Requests in flight still finish; the model is gone when the last one has.
              Ok(TRITONSERVER_ServerUnloadModel(server, "digits"), "unloading");
  // Refuses new requests, waits for those in flight (TRITONSERVER_ServerOptionsSetExitTimeout says
  // for how long), and unloads all models. ServerDelete alone does this, too.
  good = Ok(TRITONSERVER_ServerStop(server), "stopping the server") && good;
  good = Ok(TRITONSERVER_ServerDelete(server), "deleting the server") && good;
  if (good) printf("the server has ended\n");
  return good ? 0 : 1;
}
