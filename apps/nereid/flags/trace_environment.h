// SPDX-License-Identifier: Apache-2.0
// The environment variables of OpenTelemetry that programs share: where to send, as whom, and in
// which portions. They are read before the command line, which wins.
#ifndef NEREID_APPS_NEREID_FLAGS_TRACE_ENVIRONMENT_H_
#define NEREID_APPS_NEREID_FLAGS_TRACE_ENVIRONMENT_H_

#include <absl/status/status.h>

#include <functional>

#include "frontends/tracing/trace_options.h"

namespace nereid {

// The value of a variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

// Reads OTEL_BSP_*, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS (and both with TRACES),
// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME into `options`. INVALID_ARGUMENT names a variable
// that has no possible value; the others are read all the same.
absl::Status ReadTraceEnvironment(const Environment& environment, OtlpOptions* options);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_TRACE_ENVIRONMENT_H_
