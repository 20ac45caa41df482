// SPDX-License-Identifier: Apache-2.0
// TraceParent: the span of a caller that a request belongs to, as W3C's Trace Context puts it into
// the headers `traceparent` and `tracestate`. Plain values and pure functions.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_PARENT_H_
#define NEREID_FRONTENDS_TRACING_TRACE_PARENT_H_

#include <absl/strings/string_view.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace nereid {

using SpanId = std::array<uint8_t, 8>;
using SpanTraceId = std::array<uint8_t, 16>;

struct TraceParent {
  SpanTraceId trace_id{};
  SpanId span_id{};
  bool sampled = false;  // the caller records its span
  std::string state;     // of `tracestate`, passed on as it is
};

inline constexpr char kTraceParentHeader[] = "traceparent";
inline constexpr char kTraceStateHeader[] = "tracestate";

// None for a header that is missing or not well-formed, which then counts as missing. A state that
// is longer than any caller has to pass on is left out.
std::optional<TraceParent> ParseTraceParent(absl::string_view parent, absl::string_view state);

// As hexadecimal digits.
std::string FormatTraceId(const SpanTraceId& trace_id);
// "00-<trace id>-<span id>-01"
std::string FormatTraceParent(const SpanTraceId& trace_id, const SpanId& span_id);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_PARENT_H_
