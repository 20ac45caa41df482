// SPDX-License-Identifier: Apache-2.0
// OtlpSpan: a span of OpenTelemetry under construction, and the messages of OTLP that spans travel
// in. Thread-compatible.
//
// Why by hand: docs/adr/0023-otlp-by-hand.md.
#ifndef NEREID_FRONTENDS_TRACING_OTLP_ENCODING_H_
#define NEREID_FRONTENDS_TRACING_OTLP_ENCODING_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "frontends/tracing/finished_trace.h"
#include "frontends/tracing/protobuf_text.h"

namespace nereid {

enum class SpanKind : uint64_t { kInternal = 1, kServer = 2 };

// An attribute of a span or of an event.
ProtobufText OtlpAttribute(absl::string_view key, absl::string_view value);
ProtobufText OtlpAttribute(absl::string_view key, uint64_t value);

class OtlpSpan {
 public:
  // `wall_offset_ns`: what is added to the steady clock's times, in which all times are given, to
  // get those since the Unix epoch.
  explicit OtlpSpan(int64_t wall_offset_ns) : wall_offset_ns_(wall_offset_ns) {}

  std::string name;
  SpanKind kind = SpanKind::kInternal;
  SpanId id{};
  std::optional<SpanId> parent;
  std::optional<std::string> error;  // none: the status is left unset

  // The span lasts from the first such time to the last.
  void Cover(uint64_t time_ns) {
    start_ns_ = start_ns_ == 0 ? time_ns : std::min(start_ns_, time_ns);
    end_ns_ = std::max(end_ns_, time_ns);
  }
  uint64_t start_ns() const { return start_ns_; }  // 0: nothing has happened
  uint64_t end_ns() const { return end_ns_; }

  void AddAttribute(const ProtobufText& attribute);
  // Something that has happened, which the span also covers.
  void AddEvent(absl::string_view event, uint64_t time_ns,
                absl::Span<const ProtobufText> attributes = {});
  void AddLink(const SpanPlace& to);

  // The message `opentelemetry.proto.trace.v1.Span`. Called once, last.
  std::string Encode(const SpanTraceId& trace_id, absl::string_view trace_state);

 private:
  uint64_t Wall(uint64_t steady_ns) const {
    return static_cast<uint64_t>(static_cast<int64_t>(steady_ns) + wall_offset_ns_);
  }

  const int64_t wall_offset_ns_;
  uint64_t start_ns_ = 0;
  uint64_t end_ns_ = 0;
  ProtobufText fields_;  // attributes, events and links
};

// The message `ExportTraceServiceRequest` with these spans. `resource`: attributes of the sender.
std::string MakeExportRequest(const std::map<std::string, std::string>& resource,
                              absl::Span<const absl::string_view> spans);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_OTLP_ENCODING_H_
