#include "frontends/tracing/otlp_spans.h"

#include <absl/strings/match.h>
#include <absl/strings/str_join.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/version.h"
#include "frontends/tracing/protobuf_text.h"
#include "frontends/tracing/span_ids.h"

namespace nereid {
namespace {

constexpr char kRootName[] = "InferRequest";
constexpr char kComputeName[] = "compute";
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
constexpr uint32_t kEventTime = 1;
constexpr uint32_t kEventName = 2;
constexpr uint32_t kEventAttribute = 3;
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

enum class SpanKind : uint64_t { kInternal = 1, kServer = 2 };

ProtobufText Attribute(absl::string_view key, absl::string_view value) {
  ProtobufText any;
  any.Bytes(kStringValue, value);
  ProtobufText attribute;
  attribute.Bytes(kKey, key);
  attribute.Message(kValue, any);
  return attribute;
}

ProtobufText Attribute(absl::string_view key, uint64_t value) {
  ProtobufText any;
  any.Varint(kIntValue, value);
  ProtobufText attribute;
  attribute.Bytes(kKey, key);
  attribute.Message(kValue, any);
  return attribute;
}

absl::string_view View(const SpanId& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}
absl::string_view View(const SpanTraceId& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

// A span under construction.
struct Span {
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  SpanId id{};
  std::optional<SpanId> parent;
  uint64_t start_ns = 0;  // steady clock; 0: nothing has happened
  uint64_t end_ns = 0;
  ProtobufText fields;  // attributes and events

  void Cover(uint64_t time_ns) {
    start_ns = start_ns == 0 ? time_ns : std::min(start_ns, time_ns);
    end_ns = std::max(end_ns, time_ns);
  }
};

// The spans of one request to a model.
struct ModelSpans {
  uint64_t trace_id = 0;         // the server's own number
  uint64_t parent_trace_id = 0;  // 0: the root
  Span model;
  std::optional<Span> compute;
};

bool IsFrontend(absl::string_view activity) {
  return absl::StartsWith(activity, "HTTP_") || absl::StartsWith(activity, "GRPC_") ||
         activity == "INFER_RESPONSE_COMPLETE";
}

class SpanMaker {
 public:
  SpanMaker(const FinishedTrace& trace, int64_t wall_offset_ns,
            absl::FunctionRef<uint64_t()> random)
      : trace_(trace), wall_offset_ns_(wall_offset_ns), random_(random) {}

  std::vector<std::string> Make() {
    trace_id_ = trace_.span_trace_id;
    if (trace_.parent.has_value()) {
      trace_id_ = trace_.parent->trace_id;
      root_.parent = trace_.parent->span_id;
    }
    if (IsZero(trace_id_)) FillRandom(random_, &trace_id_);
    root_.name = kRootName;
    root_.kind = SpanKind::kServer;
    FillRandom(random_, &root_.id);
    for (const TracedEvent& event : trace_.events) {
      if (const auto* const names = std::get_if<TracedNames>(&event)) Begin(*names);
    }
    for (const TracedEvent& event : trace_.events) {
      std::visit([this](const auto& of) { Add(of); }, event);
    }
    return Encode();
  }

 private:
  ModelSpans* Find(uint64_t trace_id) {
    const auto it = std::find_if(models_.begin(), models_.end(),
                                 [&](const ModelSpans& one) { return one.trace_id == trace_id; });
    return it == models_.end() ? nullptr : &*it;
  }

  void Begin(const TracedNames& names) {
    ModelSpans spans;
    spans.trace_id = names.id;
    spans.parent_trace_id = names.parent_id;
    spans.model.name = names.model_name;
    spans.model.id = names.span_id;
    if (IsZero(spans.model.id)) FillRandom(random_, &spans.model.id);
    ProtobufText* const fields = &spans.model.fields;
    fields->Message(kSpanAttribute, Attribute("triton.model_name", names.model_name));
    fields->Message(kSpanAttribute,
                    Attribute("triton.model_version", static_cast<uint64_t>(names.model_version)));
    fields->Message(kSpanAttribute, Attribute("triton.trace_id", names.id));
    fields->Message(kSpanAttribute, Attribute("triton.trace_parent_id", names.parent_id));
    if (!names.request_id.empty()) {
      fields->Message(kSpanAttribute, Attribute("triton.request_id", names.request_id));
    }
    models_.push_back(std::move(spans));
  }

  Span* ComputeOf(ModelSpans* spans) {
    if (!spans->compute.has_value()) {
      spans->compute.emplace();
      spans->compute->name = kComputeName;
      FillRandom(random_, &spans->compute->id);
    }
    return &*spans->compute;
  }

  void Add(const TracedNames&) {}

  void Add(const TracedTime& time) {
    ModelSpans* const spans = IsFrontend(time.name) ? nullptr : Find(time.id);
    Span* span = spans == nullptr ? &root_ : &spans->model;
    if (spans != nullptr && absl::StartsWith(time.name, "COMPUTE_")) span = ComputeOf(spans);
    ProtobufText event;
    event.Fixed64(kEventTime, Wall(time.time_ns));
    event.Bytes(kEventName, time.name);
    span->fields.Message(kSpanEvent, event);
    span->Cover(time.time_ns);
  }

  void Add(const TracedTensor& tensor) {
    ModelSpans* const spans = Find(tensor.id);
    if (spans == nullptr) return;
    ProtobufText event;
    event.Fixed64(kEventTime, Wall(tensor.time_ns));
    event.Bytes(kEventName, tensor.activity);
    event.Message(kEventAttribute, Attribute("triton.tensor.name", tensor.name));
    event.Message(kEventAttribute,
                  Attribute("triton.tensor.datatype", DataTypeName(tensor.data_type)));
    event.Message(kEventAttribute,
                  Attribute("triton.tensor.shape", absl::StrJoin(tensor.shape, ",")));
    spans->model.fields.Message(kSpanEvent, event);
    spans->model.Cover(tensor.time_ns);
  }

  void Add(const TracedBatch& batch) {
    ModelSpans* const spans = Find(batch.id);
    if (spans == nullptr) return;
    Span* const compute = ComputeOf(spans);
    compute->fields.Message(kSpanAttribute, Attribute("nereid.batch.id", batch.batch_id));
    compute->fields.Message(kSpanAttribute, Attribute("nereid.batch.requests", batch.requests));
    compute->Cover(batch.time_ns);
  }

  std::vector<std::string> Encode() {
    std::vector<std::string> encoded;
    for (ModelSpans& spans : models_) {
      const ModelSpans* const parent =
          spans.parent_trace_id == 0 ? nullptr : Find(spans.parent_trace_id);
      spans.model.parent = parent == nullptr ? root_.id : parent->model.id;
      if (spans.compute.has_value()) {
        spans.compute->parent = spans.model.id;
        if (spans.compute->end_ns != 0) spans.model.Cover(spans.compute->end_ns);
      }
    }
    for (ModelSpans& spans : models_) {
      root_.Cover(spans.model.start_ns);
      root_.Cover(spans.model.end_ns);
      if (spans.compute.has_value()) encoded.push_back(Encode(&*spans.compute));
      encoded.push_back(Encode(&spans.model));
    }
    encoded.push_back(Encode(&root_));
    return encoded;
  }

  std::string Encode(Span* span) {
    ProtobufText text = std::move(span->fields);
    text.Bytes(kSpanTraceId, View(trace_id_));
    text.Bytes(kSpanId, View(span->id));
    if (trace_.parent.has_value() && !trace_.parent->state.empty()) {
      text.Bytes(kSpanTraceState, trace_.parent->state);
    }
    if (span->parent.has_value()) text.Bytes(kSpanParentId, View(*span->parent));
    text.Bytes(kSpanName, span->name);
    text.Varint(kSpanKind, static_cast<uint64_t>(span->kind));
    text.Fixed64(kSpanStart, Wall(span->start_ns));
    text.Fixed64(kSpanEnd, Wall(span->end_ns));
    return text.Take();
  }

  uint64_t Wall(uint64_t steady_ns) const {
    return static_cast<uint64_t>(static_cast<int64_t>(steady_ns) + wall_offset_ns_);
  }

  const FinishedTrace& trace_;
  const int64_t wall_offset_ns_;
  const absl::FunctionRef<uint64_t()> random_;
  SpanTraceId trace_id_{};
  Span root_;
  std::vector<ModelSpans> models_;
};

}  // namespace

size_t CountSpans(const FinishedTrace& trace) {
  size_t models = 0;
  for (const TracedEvent& event : trace.events) {
    models += std::holds_alternative<TracedNames>(event) ? 1 : 0;
  }
  return 1 + 2 * models;  // each has computed, usually
}

std::vector<std::string> MakeSpans(const FinishedTrace& trace, int64_t wall_offset_ns,
                                   absl::FunctionRef<uint64_t()> random) {
  return SpanMaker(trace, wall_offset_ns, random).Make();
}

std::string MakeExportRequest(const std::map<std::string, std::string>& resource,
                              absl::Span<const absl::string_view> spans) {
  ProtobufText attributes;
  for (const auto& [key, value] : resource) {
    attributes.Message(kResourceAttribute, Attribute(key, value));
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
