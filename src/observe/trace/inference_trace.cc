// SPDX-License-Identifier: Apache-2.0
#include "observe/trace/inference_trace.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/json_writer.h"

namespace nereid {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

uint32_t Modern(uint32_t level) {
  constexpr uint32_t kOld = kTraceMin | kTraceMax;
  return (level & kOld) != 0 ? (level & ~kOld) | kTraceTimestamps : level;
}

}  // namespace

const char* TraceActivityName(TraceActivity activity) {
  switch (activity) {
    case TraceActivity::kRequestStart:
      return "REQUEST_START";
    case TraceActivity::kQueueStart:
      return "QUEUE_START";
    case TraceActivity::kComputeStart:
      return "COMPUTE_START";
    case TraceActivity::kComputeInputEnd:
      return "COMPUTE_INPUT_END";
    case TraceActivity::kComputeOutputStart:
      return "COMPUTE_OUTPUT_START";
    case TraceActivity::kComputeEnd:
      return "COMPUTE_END";
    case TraceActivity::kRequestEnd:
      return "REQUEST_END";
    case TraceActivity::kTensorQueueInput:
      return "TENSOR_QUEUE_INPUT";
    case TraceActivity::kTensorBackendInput:
      return "TENSOR_BACKEND_INPUT";
    case TraceActivity::kTensorBackendOutput:
      return "TENSOR_BACKEND_OUTPUT";
    case TraceActivity::kCustom:
      return "CUSTOM_ACTIVITY";
  }
  return "<unknown>";
}

InferenceTrace::InferenceTrace(uint32_t level, uint64_t parent_id,
                               std::shared_ptr<TraceReceiver> receiver)
    : level_(Modern(level)),
      id_(NextId()),
      parent_id_(parent_id),
      receiver_(std::move(receiver)),
      contexts_(1) {}

std::unique_ptr<InferenceTrace> InferenceTrace::MakeChild() const {
  return std::make_unique<InferenceTrace>(level_, id_, receiver_);
}

void InferenceTrace::Report(TraceActivity activity, uint64_t time_ns) {
  if ((level_ & kTraceTimestamps) != 0) receiver_->OnActivity(this, activity, time_ns);
}

void InferenceTrace::ReportTensor(TraceActivity activity, const TraceTensor& tensor) {
  if (wants_tensors()) receiver_->OnTensor(this, activity, tensor);
}

void InferenceTrace::ReportBatch(const TraceBatch& batch) {
  if ((level_ & kTraceTimestamps) != 0) receiver_->OnBatch(this, batch);
}

void InferenceTrace::ReportError(absl::string_view message) {
  if ((level_ & kTraceTimestamps) != 0) receiver_->OnError(this, message);
}

absl::Status InferenceTrace::ReportCustom(uint64_t time_ns, absl::string_view name) {
  std::string member = absl::StrCat("\"", time_ns, "\":");
  AppendJsonString(name, &member);
  {
    MutexLock lock(&mu_);
    const absl::string_view present = absl::StripAsciiWhitespace(contexts_.back());
    if (present.empty()) {
      ReplaceContext(absl::StrCat("{", member, "}"));
    } else if (present.size() < 2 || present.front() != '{' || present.back() != '}') {
      return absl::InvalidArgumentError(
          absl::StrCat("activity '", name,
                       "' cannot be recorded: the context of the trace is no "
                       "JSON object"));
    } else {
      // Only this function needs the parsed object: the member is inserted before the last brace.
      const absl::string_view open = present.substr(0, present.size() - 1);
      const bool first = absl::StripAsciiWhitespace(open).size() == 1;
      ReplaceContext(absl::StrCat(open, first ? "" : ",", member, "}"));
    }
  }
  if ((level_ & kTraceTimestamps) != 0) receiver_->OnCustom(this, name, time_ns);
  return absl::OkStatus();
}

void InferenceTrace::Begin(absl::string_view model_name, int64_t model_version,
                           absl::string_view request_id, uint64_t time_ns) {
  model_name_.assign(model_name.data(), model_name.size());
  model_version_ = model_version;
  request_id_.assign(request_id.data(), request_id.size());
  if (!std::exchange(begun_, true)) Report(TraceActivity::kRequestStart, time_ns);
}

void InferenceTrace::SetContext(absl::string_view context) {
  MutexLock lock(&mu_);
  ReplaceContext(std::string(context));
}

const char* InferenceTrace::Context() {
  MutexLock lock(&mu_);
  context_lent_ = true;
  return contexts_.back().c_str();
}

std::string InferenceTrace::TraceParent() {
  constexpr absl::string_view kMember = "\"traceparent\":\"";
  constexpr absl::string_view kVersion = "00-";
  MutexLock lock(&mu_);
  absl::string_view context = contexts_.back();
  const size_t member = context.find(kMember);
  if (member == absl::string_view::npos) return "";
  context.remove_prefix(member + kMember.size());
  if (!absl::StartsWith(context, kVersion)) return "";
  return std::string(context.substr(0, context.find('"')));
}

std::string InferenceTrace::LogId() {
  constexpr size_t kVersion = 3;
  constexpr size_t kDigits = 32;
  const std::string parent = TraceParent();
  const absl::string_view digits =
      absl::string_view(parent).substr(std::min(kVersion, parent.size()), kDigits);
  const bool whole =
      digits.size() == kDigits && std::all_of(digits.begin(), digits.end(), [](char c) {
        return absl::ascii_isxdigit(static_cast<unsigned char>(c));
      });
  return whole ? std::string(digits) : absl::StrCat(id_);
}

void InferenceTrace::ReplaceContext(std::string context) {
  if (std::exchange(context_lent_, false)) {
    contexts_.push_back(std::move(context));
  } else {
    contexts_.back() = std::move(context);
  }
}

TracePtr HoldTrace(std::unique_ptr<InferenceTrace> trace) {
  if (trace == nullptr) return nullptr;
  trace->begun_ = false;
  return TracePtr(trace.release(), [](InferenceTrace* back) {
    // OnRelease may destroy the trace, and the receiver with it.
    const std::shared_ptr<TraceReceiver> receiver = back->receiver_;
    receiver->OnRelease(std::unique_ptr<InferenceTrace>(back));
  });
}

}  // namespace nereid
