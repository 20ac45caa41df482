// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/traced_request.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "base/log.h"
#include "frontends/tracing/span_ids.h"

namespace nereid {
namespace {

// Of an event beside its texts and tensors.
constexpr size_t kEventBytes = sizeof(TracedEvent);
// Longer messages are cut: they may repeat what a client has sent.
constexpr size_t kLongestError = 1024;

// As OpenTelemetry's semantic conventions for gRPC say of the status of a server's span.
bool IsServersFault(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

// The span of the request of `trace`, if it was told one.
std::optional<SpanPlace> SpanOf(InferenceTrace* trace) {
  const std::optional<TraceParent> parent = ParseTraceParent(trace->TraceParent(), "");
  if (!parent.has_value()) return std::nullopt;
  return SpanPlace{parent->trace_id, parent->span_id};
}

// Where the span of a batch is, of whose traced requests `first` is the first. All of them find the
// same place without talking to each other, because the id follows from what all know.
SpanPlace SpanOfBatch(const SpanPlace& first, uint64_t batch_id) {
  uint64_t bits = batch_id;
  for (const uint8_t byte : first.span_id) bits = bits * 0x9E3779B97F4A7C15ULL + byte + 1;
  SpanPlace place{first.trace_id, {}};
  FillRandom([&bits] { return bits += 1; }, &place.span_id);
  return place;
}

// Adds the span of the batch to `traced`, and the spans of its requests if `trace` is of the first
// that has one.
void FindMembers(const InferenceTrace& trace, const TraceBatch& batch, TracedBatch* traced) {
  for (InferenceTrace* const member : batch.traces) {
    const std::optional<SpanPlace> span = SpanOf(member);
    if (!span.has_value()) continue;
    if (!traced->span.has_value()) {
      traced->span = SpanOfBatch(*span, batch.id);
      if (member != &trace) return;
    }
    traced->members.push_back(*span);
  }
}

}  // namespace

TracedRequest::TracedRequest(std::shared_ptr<const TraceSampler> sampler,
                             std::optional<TraceParent> parent, bool with_spans,
                             std::shared_ptr<TraceCollector> collector)
    : level_(sampler->level()),
      with_spans_(with_spans),
      collector_(std::move(collector)),
      trace_(std::make_unique<FinishedTrace>()) {
  trace_->sampler = std::move(sampler);
  if (with_spans && parent.has_value()) {
    trace_->span_trace_id = parent->trace_id;
  } else if (with_spans) {
    FillRandom(&RandomBits, &trace_->span_trace_id);
  }
  trace_->parent = std::move(parent);
}

TracedRequest::~TracedRequest() {
  std::unique_ptr<FinishedTrace> finished;
  {
    MutexLock lock(&mu_);
    finished = std::move(trace_);
  }
  collector_->Submit(std::move(finished));
}

TracePtr TracedRequest::Begin() {
  auto trace = std::make_unique<InferenceTrace>(level_, /*parent_id=*/0, shared_from_this());
  root_id_ = trace->id();
  {
    MutexLock lock(&mu_);
    trace_->root_id = root_id_;
  }
  return HoldTrace(std::move(trace));
}

std::string TracedRequest::LogId() {
  if (!with_spans_) return absl::StrCat(root_id_);
  MutexLock lock(&mu_);
  return FormatTraceId(trace_->span_trace_id);
}

void TracedRequest::Note(const char* activity) {
  NoteAt(activity, ToNanos(collector_->clock()->Now()));
}

void TracedRequest::NoteAt(const char* activity, uint64_t time_ns) {
  if ((level_ & kTraceTimestamps) == 0 || time_ns == 0) return;
  Add(nullptr, TracedTime{root_id_, activity, time_ns}, 0);
}

void TracedRequest::OnActivity(InferenceTrace* trace, TraceActivity activity, uint64_t time_ns) {
  Add(trace, TracedTime{trace->id(), TraceActivityName(activity), time_ns}, 0);
}

void TracedRequest::OnCustom(InferenceTrace* trace, absl::string_view name, uint64_t time_ns) {
  Add(trace, TracedTime{trace->id(), std::string(name), time_ns, /*custom=*/true}, name.size());
}

void TracedRequest::OnTensor(InferenceTrace* trace, TraceActivity activity,
                             const TraceTensor& tensor) {
  TracedTensor copy;
  copy.id = trace->id();
  copy.activity = TraceActivityName(activity);
  copy.name = tensor.name;
  copy.data_type = tensor.data_type;
  copy.shape.assign(tensor.shape.begin(), tensor.shape.end());
  copy.time_ns = ToNanos(collector_->clock()->Now());
  const bool readable = tensor.place.type != MemoryType::kGpu && tensor.base != nullptr;
  const size_t bytes = readable ? tensor.byte_size : 0;
  {
    // Before the bytes are copied.
    MutexLock lock(&mu_);
    if (!Pay(bytes)) return;
  }
  copy.bytes.assign(static_cast<const char*>(tensor.base), bytes);
  Add(trace, std::move(copy), 0);
}

void TracedRequest::OnBatch(InferenceTrace* trace, const TraceBatch& batch) try {
  TracedBatch traced;
  traced.id = trace->id();
  traced.batch_id = batch.id;
  traced.requests = batch.requests;
  traced.time_ns = ToNanos(collector_->clock()->Now());
  if (with_spans_) FindMembers(*trace, batch, &traced);
  const size_t bytes = traced.members.size() * sizeof(SpanPlace);
  Add(trace, std::move(traced), bytes);
} catch (const std::bad_alloc&) {
  // The trace lacks the batch.
}

void TracedRequest::NoteError(const absl::Status& error) {
  if (IsServersFault(error.code())) AddError(nullptr, 0, error.message());
}

void TracedRequest::OnError(InferenceTrace* trace, absl::string_view message) {
  AddError(trace, trace->id(), message);
}

void TracedRequest::AddError(InferenceTrace* trace, uint64_t id, absl::string_view message) try {
  message = message.substr(0, kLongestError);
  Add(trace, TracedError{id, std::string(message)}, message.size());
} catch (const std::bad_alloc&) {
  // The trace lacks the error.
}

void TracedRequest::Add(InferenceTrace* trace, TracedEvent event, size_t bytes) try {
  std::string context;
  {
    MutexLock lock(&mu_);
    if (trace != nullptr) context = AddNames(*trace);
    if (Pay(kEventBytes + bytes)) trace_->events.push_back(std::move(event));
  }
  if (!context.empty()) trace->SetContext(context);
} catch (const std::bad_alloc&) {
  // The request goes on, its trace lacks an event.
}

std::string TracedRequest::AddNames(const InferenceTrace& trace) {
  if (trace.model_name().empty()) return "";  // it has not begun
  if (std::find(named_.begin(), named_.end(), trace.id()) != named_.end()) return "";
  TracedNames names;
  names.id = trace.id();
  names.parent_id = trace.parent_id();
  names.model_name = trace.model_name();
  names.model_version = trace.model_version();
  names.request_id = trace.request_id();
  if (!Pay(kEventBytes + names.model_name.size() + names.request_id.size())) return "";
  std::string context;
  if (with_spans_) {
    FillRandom(&RandomBits, &names.span_id);
    context = SpanContext(names.span_id);
  }
  named_.push_back(trace.id());
  trace_->events.emplace_back(std::move(names));
  return context;
}

std::string TracedRequest::SpanContext(const SpanId& span_id) const {
  std::string context;
  JsonWriter json(&context);
  json.BeginObject();
  json.Add(kTraceParentHeader, FormatTraceParent(trace_->span_trace_id, span_id));
  if (trace_->parent.has_value() && !trace_->parent->state.empty()) {
    json.Add(kTraceStateHeader, trace_->parent->state);
  }
  json.EndObject();
  return context;
}

bool TracedRequest::Pay(size_t bytes) {
  if (trace_->events.size() >= kMostEvents) return false;
  absl::StatusOr<BudgetUnits> units = collector_->memory()->Take(bytes);
  if (!units.ok()) return false;
  trace_->memory.Add(*std::move(units));
  return true;
}

void NoteError(const TracedRequestPtr& traced, const absl::Status& error) {
  constexpr size_t kMostLoggedBytes = 4096;
  LOG_VERBOSE_REQUEST << "Infer failed: " << error.message().substr(0, kMostLoggedBytes);
  if (traced != nullptr) traced->NoteError(error);
}

LogAbout AboutRequest(const InferRequest& request, const TracedRequestPtr& traced) {
  return {request.id(), request.model()->config().name, traced == nullptr ? "" : traced->LogId()};
}

}  // namespace nereid
