// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_ServerOptionsSetMetricsConfig: which latencies of models become metrics.
#include <absl/strings/str_cat.h>

#include "c_api/handles.h"
#include "c_api/server_options.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::Text;
using nereid::ToCError;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsConfig(TRITONSERVER_ServerOptions* options,
                                                               const char* name,
                                                               const char* setting,
                                                               const char* value) try {
  if (!Text(name).empty()) {
    return ToCError(absl::UnimplementedError(
        absl::StrCat("metrics settings of the group '", Text(name),
                     "' are not supported, only those of the group '' are")));
  }
  return ToCError(options->options.metrics_config.Set(Text(setting), Text(value)));
} catch (...) {
  return CaughtError();
}

}  // extern "C"
