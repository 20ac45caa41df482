#include <absl/strings/str_cat.h>

#include "flags/flag_kinds.h"
#include "flags/flag_table.h"

namespace nereid {
namespace {

Flag ThreadsFlag(const char* name, int* target) {
  return WithDefaultText(absl::StrCat(kMostHttpThreads, ", or the number of processors if less"),
                         IntegerFlag(name, target, {1, 1024}, "I/O threads."));
}

}  // namespace

FlagGroup VertexAiFlags(Settings* s) {
  VertexAiSettings* const v = &s->vertex_ai;
  return {"Vertex AI",
          {WithDefaultText(
               "false, or true if AIP_MODE=PREDICTION",
               BooleanFlag("allow-vertex-ai", &v->listen.allow,
                           "Serve containers' requests of Vertex AI: AIP_HEALTH_ROUTE and "
                           "AIP_PREDICT_ROUTE. With AIP_MODE=PREDICTION, HTTP and gRPC are off "
                           "unless allowed.")),
           WithDefaultText("AIP_HTTP_PORT, or 8080",
                           IntegerFlag("vertex-ai-port", &v->listen.port, {0, 65535},
                                       "Port to listen on; 0 picks a free one and prints it.")),
           ThreadsFlag("vertex-ai-thread-count", &v->listen.thread_count),
           WithDefaultText(
               "the only one",
               StringFlag("vertex-ai-default-model", &v->default_model,
                          "Model of predictions that are not redirected to another one."))}};
}

}  // namespace nereid
