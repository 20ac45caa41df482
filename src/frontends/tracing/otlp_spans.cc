// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/otlp_spans.h"

#include <absl/strings/match.h>
#include <absl/strings/str_join.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "frontends/tracing/otlp_encoding.h"
#include "frontends/tracing/span_ids.h"

namespace nereid {
namespace {

constexpr char kRootName[] = "InferRequest";
constexpr char kComputeName[] = "compute";
constexpr char kBatchName[] = "batch";
constexpr absl::string_view kCustomStart = "_START";
constexpr absl::string_view kCustomEnd = "_END";

// The spans of one request to a model.
struct ModelSpans {
  ModelSpans(uint64_t trace_id_in, uint64_t parent_trace_id_in, int64_t wall_offset_ns)
      : trace_id(trace_id_in), parent_trace_id(parent_trace_id_in), model(wall_offset_ns) {}

  uint64_t trace_id;         // the server's own number
  uint64_t parent_trace_id;  // 0: the root
  OtlpSpan model;
  std::optional<OtlpSpan> compute;
  std::vector<OtlpSpan> batches;  // that belong to this trace; several if it was rescheduled
  std::vector<OtlpSpan> custom;   // of a backend's own activities
  std::vector<size_t> open;       // those of them that have not ended, the innermost last
};

// Whether the activity begins (ends) a span of its own.
bool BeginsSpan(const TracedTime& time) {
  return time.custom && time.name.size() > kCustomStart.size() &&
         absl::EndsWith(time.name, kCustomStart);
}
bool EndsSpan(const TracedTime& time) {
  return time.custom && absl::EndsWith(time.name, kCustomEnd);
}

bool IsFrontend(absl::string_view activity) {
  return absl::StartsWith(activity, "HTTP_") || absl::StartsWith(activity, "GRPC_") ||
         activity == "INFER_RESPONSE_COMPLETE";
}

void AddBatch(const TracedBatch& batch, OtlpSpan* span) {
  span->AddAttribute(OtlpAttribute("nereid.batch.id", batch.batch_id));
  span->AddAttribute(OtlpAttribute("nereid.batch.requests", batch.requests));
}

class SpanMaker {
 public:
  SpanMaker(const FinishedTrace& trace, int64_t wall_offset_ns,
            absl::FunctionRef<uint64_t()> random)
      : trace_(trace), wall_offset_ns_(wall_offset_ns), random_(random), root_(wall_offset_ns) {}

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
    Connect();
    return Encode();
  }

 private:
  ModelSpans* Find(uint64_t trace_id) {
    const auto it = std::find_if(models_.begin(), models_.end(),
                                 [&](const ModelSpans& one) { return one.trace_id == trace_id; });
    return it == models_.end() ? nullptr : &*it;
  }

  void Begin(const TracedNames& names) {
    ModelSpans& spans = models_.emplace_back(names.id, names.parent_id, wall_offset_ns_);
    spans.model.name = names.model_name;
    spans.model.id = names.span_id;
    if (IsZero(spans.model.id)) FillRandom(random_, &spans.model.id);
    spans.model.AddAttribute(OtlpAttribute("triton.model_name", names.model_name));
    spans.model.AddAttribute(
        OtlpAttribute("triton.model_version", static_cast<uint64_t>(names.model_version)));
    spans.model.AddAttribute(OtlpAttribute("triton.trace_id", names.id));
    spans.model.AddAttribute(OtlpAttribute("triton.trace_parent_id", names.parent_id));
    if (!names.request_id.empty()) {
      spans.model.AddAttribute(OtlpAttribute("triton.request_id", names.request_id));
    }
  }

  OtlpSpan* ComputeOf(ModelSpans* spans) {
    if (!spans->compute.has_value()) {
      spans->compute.emplace(wall_offset_ns_);
      spans->compute->name = kComputeName;
      spans->compute->parent = spans->model.id;
      FillRandom(random_, &spans->compute->id);
    }
    return &*spans->compute;
  }

  void Add(const TracedNames&) {}

  void Add(const TracedTime& time) {
    ModelSpans* const spans = !time.custom && IsFrontend(time.name) ? nullptr : Find(time.id);
    if (spans != nullptr && time.custom) return AddCustom(time, spans);
    OtlpSpan* span = spans == nullptr ? &root_ : &spans->model;
    if (spans != nullptr && absl::StartsWith(time.name, "COMPUTE_")) {
      span = ComputeOf(spans);
      if (!spans->batches.empty()) spans->batches.back().Cover(time.time_ns);
    }
    span->AddEvent(time.name, time.time_ns);
  }

  void AddCustom(const TracedTime& time, ModelSpans* spans) {
    if (BeginsSpan(time)) BeginCustom(time, spans);
    const std::vector<size_t>::const_iterator ended =
        EndsSpan(time) ? FindOpen(time, *spans) : spans->open.cend();
    OtlpSpan& span = ended != spans->open.cend() ? spans->custom[*ended]
                     : spans->open.empty()       ? spans->model
                                                 : spans->custom[spans->open.back()];
    span.AddEvent(time.name, time.time_ns);
    spans->model.Cover(time.time_ns);
    // What began inside it, and was not ended, ends with it.
    for (auto inner = ended; inner != spans->open.cend(); ++inner) {
      spans->custom[*inner].Cover(time.time_ns);
    }
    spans->open.erase(ended, spans->open.cend());
  }

  void BeginCustom(const TracedTime& time, ModelSpans* spans) {
    const SpanId parent =
        spans->open.empty() ? spans->model.id : spans->custom[spans->open.back()].id;
    OtlpSpan& span = spans->custom.emplace_back(wall_offset_ns_);
    span.name = time.name.substr(0, time.name.size() - kCustomStart.size());
    span.parent = parent;
    FillRandom(random_, &span.id);
    spans->open.push_back(spans->custom.size() - 1);
  }

  // The innermost span that `time` ends, in spans.open; its end if there is none.
  static std::vector<size_t>::const_iterator FindOpen(const TracedTime& time,
                                                      const ModelSpans& spans) {
    const absl::string_view name = absl::StripSuffix(time.name, kCustomEnd);
    for (auto it = spans.open.end(); it != spans.open.begin();) {
      if (spans.custom[*--it].name == name) return it;
    }
    return spans.open.cend();
  }

  void Add(const TracedTensor& tensor) {
    ModelSpans* const spans = Find(tensor.id);
    if (spans == nullptr) return;
    const std::array<ProtobufText, 3> attributes = {
        OtlpAttribute("triton.tensor.name", tensor.name),
        OtlpAttribute("triton.tensor.datatype", DataTypeName(tensor.data_type)),
        OtlpAttribute("triton.tensor.shape", absl::StrJoin(tensor.shape, ","))};
    spans->model.AddEvent(tensor.activity, tensor.time_ns, attributes);
  }

  void Add(const TracedBatch& batch) {
    ModelSpans* const spans = Find(batch.id);
    if (spans == nullptr) return;
    const bool first = !spans->compute.has_value();
    OtlpSpan* const compute = ComputeOf(spans);
    if (first) AddBatch(batch, compute);
    compute->Cover(batch.time_ns);
    if (!batch.span.has_value()) return;
    compute->AddLink(*batch.span);
    if (!batch.members.empty()) BeginBatch(batch, spans);
  }

  void BeginBatch(const TracedBatch& batch, ModelSpans* spans) {
    OtlpSpan& span = spans->batches.emplace_back(wall_offset_ns_);
    span.name = kBatchName;
    span.id = batch.span->span_id;
    span.parent = spans->model.id;
    span.AddAttribute(OtlpAttribute("triton.model_name", spans->model.name));
    AddBatch(batch, &span);
    for (const SpanPlace& member : batch.members) span.AddLink(member);
    span.Cover(batch.time_ns);
  }

  void Add(const TracedError& error) {
    if (error.id == 0) return SetError(error.message, &root_);
    if (ModelSpans* const spans = Find(error.id)) SetError(error.message, &spans->model);
  }

  // The first error of a span is the one that it shows.
  static void SetError(const std::string& message, OtlpSpan* span) {
    if (!span->error.has_value()) span->error = message;
  }

  // Sets what depends on other spans.
  void Connect() {
    for (ModelSpans& spans : models_) {
      const ModelSpans* const parent =
          spans.parent_trace_id == 0 ? nullptr : Find(spans.parent_trace_id);
      spans.model.parent = parent == nullptr ? root_.id : parent->model.id;
      if (spans.compute.has_value() && spans.compute->end_ns() != 0) {
        spans.model.Cover(spans.compute->end_ns());
      }
      for (const size_t open : spans.open) spans.custom[open].Cover(spans.model.end_ns());
      root_.Cover(spans.model.start_ns());
      root_.Cover(spans.model.end_ns());
      if (spans.batches.empty()) continue;
      OtlpSpan& last = spans.batches.back();
      // The backend has not told when it has computed.
      if (last.start_ns() == last.end_ns()) last.Cover(spans.model.end_ns());
    }
  }

  std::vector<std::string> Encode() {
    const std::string state = trace_.parent.has_value() ? trace_.parent->state : "";
    std::vector<std::string> encoded;
    const auto add = [&](OtlpSpan* span) { encoded.push_back(span->Encode(trace_id_, state)); };
    for (ModelSpans& spans : models_) {
      for (OtlpSpan& batch : spans.batches) add(&batch);
      for (OtlpSpan& custom : spans.custom) add(&custom);
      if (spans.compute.has_value()) add(&*spans.compute);
      add(&spans.model);
    }
    add(&root_);
    return encoded;
  }

  const FinishedTrace& trace_;
  const int64_t wall_offset_ns_;
  const absl::FunctionRef<uint64_t()> random_;
  SpanTraceId trace_id_{};
  OtlpSpan root_;
  std::vector<ModelSpans> models_;
};

}  // namespace

size_t CountSpans(const FinishedTrace& trace) {
  size_t spans = 1;
  for (const TracedEvent& event : trace.events) {
    if (std::holds_alternative<TracedNames>(event)) spans += 2;  // it has computed, usually
    const auto* const time = std::get_if<TracedTime>(&event);
    if (time != nullptr && BeginsSpan(*time)) ++spans;
    const auto* const batch = std::get_if<TracedBatch>(&event);
    if (batch != nullptr && !batch->members.empty()) ++spans;
  }
  return spans;
}

std::vector<std::string> MakeSpans(const FinishedTrace& trace, int64_t wall_offset_ns,
                                   absl::FunctionRef<uint64_t()> random) {
  return SpanMaker(trace, wall_offset_ns, random).Make();
}

}  // namespace nereid
