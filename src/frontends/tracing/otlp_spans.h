// SPDX-License-Identifier: Apache-2.0
// A finished trace as spans of OpenTelemetry: one for the client's request (`InferRequest`), below
// it one for each request to a model, named after the model, and below those `compute`, `batch` if
// this trace has the first traced request of a batch, which links all traced requests of it, and
// NAME for a backend's own activities NAME_START and NAME_END, inside one another as they were
// reported. Pure functions.
#ifndef NEREID_FRONTENDS_TRACING_OTLP_SPANS_H_
#define NEREID_FRONTENDS_TRACING_OTLP_SPANS_H_

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/tracing/finished_trace.h"

namespace nereid {

// How many spans MakeSpans makes of `trace`, or more.
size_t CountSpans(const FinishedTrace& trace);

// The spans of `trace` as messages `opentelemetry.proto.trace.v1.Span`. `wall_offset_ns`: what is
// added to the steady clock's times to get those since the Unix epoch. `random`: any 64 bits.
std::vector<std::string> MakeSpans(const FinishedTrace& trace, int64_t wall_offset_ns,
                                   absl::FunctionRef<uint64_t()> random);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_OTLP_SPANS_H_
