// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_Metrics*: the metrics of a server as text.
#include <absl/strings/str_cat.h>

#include "c_api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::ToCError;

// Complete type behind the handle. Thread-compatible.
struct TRITONSERVER_Metrics {
  const nereid::Server* const server;  // outlives the handle
  std::string text;                    // result of the last call
};

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerMetrics(TRITONSERVER_Server* server,
                                               TRITONSERVER_Metrics** metrics) try {
  *metrics = new TRITONSERVER_Metrics{nereid::Unwrap(server), std::string()};
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricsDelete(TRITONSERVER_Metrics* metrics) try {
  delete metrics;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricsFormatted(TRITONSERVER_Metrics* metrics,
                                                  TRITONSERVER_MetricFormat format,
                                                  const char** base, size_t* byte_size) try {
  if (format != TRITONSERVER_METRIC_PROMETHEUS) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat("unknown metrics format '", static_cast<int>(format), "'")));
  }
  absl::StatusOr<std::string> text = metrics->server->MetricsText();
  if (!text.ok()) return ToCError(text.status());
  metrics->text = *std::move(text);
  *base = metrics->text.data();
  *byte_size = metrics->text.size();
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
