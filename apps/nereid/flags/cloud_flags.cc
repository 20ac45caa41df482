// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <optional>

#include "base/status_macros.h"
#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

Flag ThreadsFlag(const char* name, int* target) {
  return WithDefaultText(absl::StrCat(kMostHttpThreads, ", or the number of processors if less"),
                         IntegerFlag(name, target, {1, 1024}, "I/O threads."));
}

absl::Status ReadPortRange(absl::string_view value,
                           std::optional<SagemakerSettings::PortRange>* range) {
  const size_t dash = value.find('-');
  if (dash == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("Cannot parse pair option due to incorrect number of inputs.--<pair option> "
                     "argument requires format <first>-<second>. Found: ",
                     value));
  }
  int64_t low = 0;
  int64_t high = 0;
  RETURN_IF_ERROR(ParseInteger(value.substr(0, dash), 0, 65535, &low));
  RETURN_IF_ERROR(ParseInteger(value.substr(dash + 1), low, 65535, &high));
  *range = {static_cast<uint16_t>(low), static_cast<uint16_t>(high)};
  return absl::OkStatus();
}

}  // namespace

FlagGroup SagemakerFlags(Settings* s) {
  SagemakerSettings* const m = &s->sagemaker;
  return {"SageMaker",
          {BooleanFlag("allow-sagemaker", &m->listen.allow,
                       "Serve containers' requests of SageMaker: /ping, /invocations and /models."),
           PortFlag("sagemaker-port", &m->listen.port, &s->port_errors),
           {"sagemaker-safe-port-range", "<integer>-<integer>", "",
            "Ports that the other services may use, if SageMaker is served.",
            [m](absl::string_view value) { return ReadPortRange(value, &m->safe_ports); }},
           ThreadsFlag("sagemaker-thread-count", &m->listen.thread_count)}};
}

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
                           PortFlag("vertex-ai-port", &v->listen.port, &s->port_errors)),
           ThreadsFlag("vertex-ai-thread-count", &v->listen.thread_count),
           WithDefaultText(
               "the only one",
               StringFlag("vertex-ai-default-model", &v->default_model,
                          "Model of predictions that are not redirected to another one."))}};
}

}  // namespace nereid
