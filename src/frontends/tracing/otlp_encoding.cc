// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/otlp_encoding.h"

#include <utility>

#include "base/version.h"

namespace nereid {
namespace {

constexpr char kScope[] = "nereid";

// Numbers of fields, from opentelemetry/proto (trace/v1, common/v1, resource/v1,
// collector/trace/v1).
constexpr uint32_t kSpanTraceId = 1;
constexpr uint32_t kSpanId = 2;
constexpr uint32_t kSpanTraceState = 3;
constexpr uint32_t kSpanParentId = 4;
constexpr uint32_t kSpanName = 5;
constexpr uint32_t kSpanKind = 6;
constexpr uint32_t kSpanStart = 7;
constexpr uint32_t kSpanEnd = 8;
constexpr uint32_t kSpanAttribute = 9;
constexpr uint32_t kSpanEvent = 11;
constexpr uint32_t kSpanLink = 13;
constexpr uint32_t kSpanStatus = 15;
constexpr uint32_t kEventTime = 1;
constexpr uint32_t kEventName = 2;
constexpr uint32_t kEventAttribute = 3;
constexpr uint32_t kLinkTraceId = 1;
constexpr uint32_t kLinkSpanId = 2;
constexpr uint32_t kStatusMessage = 2;
constexpr uint32_t kStatusCode = 3;
constexpr uint32_t kKey = 1;
constexpr uint32_t kValue = 2;
constexpr uint32_t kStringValue = 1;
constexpr uint32_t kIntValue = 3;
constexpr uint32_t kResourceAttribute = 1;
constexpr uint32_t kScopeName = 1;
constexpr uint32_t kScopeVersion = 2;
constexpr uint32_t kScopeOfSpans = 1;
constexpr uint32_t kSpans = 2;
constexpr uint32_t kResource = 1;
constexpr uint32_t kScopeSpans = 2;
constexpr uint32_t kResourceSpans = 1;

constexpr uint64_t kError = 2;  // a code of Status; without one it is UNSET

absl::string_view View(const SpanId& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}
absl::string_view View(const SpanTraceId& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

ProtobufText Attribute(absl::string_view key, const ProtobufText& value) {
  ProtobufText attribute;
  attribute.Bytes(kKey, key);
  attribute.Message(kValue, value);
  return attribute;
}

}  // namespace

ProtobufText OtlpAttribute(absl::string_view key, absl::string_view value) {
  ProtobufText any;
  any.Bytes(kStringValue, value);
  return Attribute(key, any);
}

ProtobufText OtlpAttribute(absl::string_view key, uint64_t value) {
  ProtobufText any;
  any.Varint(kIntValue, value);
  return Attribute(key, any);
}

void OtlpSpan::AddAttribute(const ProtobufText& attribute) {
  fields_.Message(kSpanAttribute, attribute);
}

void OtlpSpan::AddEvent(absl::string_view event, uint64_t time_ns,
                        absl::Span<const ProtobufText> attributes) {
  ProtobufText text;
  text.Fixed64(kEventTime, Wall(time_ns));
  text.Bytes(kEventName, event);
  for (const ProtobufText& attribute : attributes) text.Message(kEventAttribute, attribute);
  fields_.Message(kSpanEvent, text);
  Cover(time_ns);
}

void OtlpSpan::AddLink(const SpanPlace& to) {
  ProtobufText link;
  link.Bytes(kLinkTraceId, View(to.trace_id));
  link.Bytes(kLinkSpanId, View(to.span_id));
  fields_.Message(kSpanLink, link);
}

std::string OtlpSpan::Encode(const SpanTraceId& trace_id, absl::string_view trace_state) {
  ProtobufText text = std::move(fields_);
  text.Bytes(kSpanTraceId, View(trace_id));
  text.Bytes(kSpanId, View(id));
  if (!trace_state.empty()) text.Bytes(kSpanTraceState, trace_state);
  if (parent.has_value()) text.Bytes(kSpanParentId, View(*parent));
  text.Bytes(kSpanName, name);
  text.Varint(kSpanKind, static_cast<uint64_t>(kind));
  text.Fixed64(kSpanStart, Wall(start_ns_));
  text.Fixed64(kSpanEnd, Wall(end_ns_));
  if (error.has_value()) {
    ProtobufText status;
    if (!error->empty()) status.Bytes(kStatusMessage, *error);
    status.Varint(kStatusCode, kError);
    text.Message(kSpanStatus, status);
  }
  return text.Take();
}

std::string MakeExportRequest(const std::map<std::string, std::string>& resource,
                              absl::Span<const absl::string_view> spans) {
  ProtobufText attributes;
  for (const auto& [key, value] : resource) {
    attributes.Message(kResourceAttribute, OtlpAttribute(key, absl::string_view(value)));
  }
  ProtobufText scope;
  scope.Bytes(kScopeName, kScope);
  scope.Bytes(kScopeVersion, kVersion);
  ProtobufText scope_spans;
  scope_spans.Message(kScopeOfSpans, scope);
  for (const absl::string_view span : spans) scope_spans.Bytes(kSpans, span);
  ProtobufText resource_spans;
  resource_spans.Message(kResource, attributes);
  resource_spans.Message(kScopeSpans, scope_spans);
  ProtobufText request;
  request.Message(kResourceSpans, resource_spans);
  return request.Take();
}

}  // namespace nereid
