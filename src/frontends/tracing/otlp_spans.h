// A finished trace as spans of OpenTelemetry: one for the client's request (`InferRequest`), below
// it one for each request to a model, named after the model, and below those `compute`, in whose
// attributes the batch stands. Pure functions.
#ifndef NEREID_FRONTENDS_TRACING_OTLP_SPANS_H_
#define NEREID_FRONTENDS_TRACING_OTLP_SPANS_H_

#include <absl/functional/function_ref.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontends/tracing/finished_trace.h"

namespace nereid {

// How many spans MakeSpans makes of `trace`.
size_t CountSpans(const FinishedTrace& trace);

// The spans of `trace` as messages `opentelemetry.proto.trace.v1.Span`. `wall_offset_ns`: what is
// added to the steady clock's times to get those since the Unix epoch. `random`: any 64 bits.
std::vector<std::string> MakeSpans(const FinishedTrace& trace, int64_t wall_offset_ns,
                                   absl::FunctionRef<uint64_t()> random);

// The message `ExportTraceServiceRequest` with these spans. `resource`: attributes of the sender.
std::string MakeExportRequest(const std::map<std::string, std::string>& resource,
                              absl::Span<const absl::string_view> spans);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_OTLP_SPANS_H_
