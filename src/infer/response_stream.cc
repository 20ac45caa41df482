// SPDX-License-Identifier: Apache-2.0
#include "infer/response_stream.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.h"
#include "infer/request_trace.h"
#include "infer/response.h"
#include "infer/serving_model.h"

namespace nereid {
namespace {

thread_local Duration time_in_receivers{0};

}  // namespace

ResponseStream::ResponseStream(ModelPass pass, std::string request_id, const ResponseTarget& target,
                               TracePtr trace)
    : pass_(std::move(pass)),
      request_id_(std::move(request_id)),
      target_(target),
      trace_(std::move(trace)) {}

ResponseStream::~ResponseStream() {
  if ((sends_.fetch_or(kFinalSent) & kFinalSent) == 0) {
    Deliver(ErrorOfBackend(), kResponseCompleteFinal);
  }
  if (flight_.has_value()) WriteRecord();
  // This may deliver responses of other streams that wait for the end of this one.
  relay_.reset();
  // Released while `pass_` keeps the model, so that whoever has waited for the server's end has all
  // traces back, except those of responses that still exist.
  trace_.reset();
}

LogAbout ResponseStream::About() const try {
  return {request_id_, model()->config().name, trace_ == nullptr ? "" : trace_->LogId()};
} catch (const std::bad_alloc&) {
  return {};
}

std::unique_ptr<InferResponse> ResponseStream::ErrorOfBackend() noexcept try {
  const absl::Status error = absl::InternalError(
      absl::StrCat("model '", model()->config().name, "': the backend '", model()->config().backend,
                   "' ended the request without a final response"));
  LOG_ERROR_SELDOM << About() << error.message();
  // No shared_ptr to this object can be made any more: the response goes out without one.
  auto response = std::make_unique<InferResponse>(nullptr, model(), request_id_, target_.allocator,
                                                  target_.allocator_userp, trace_);
  response->set_status(error);
  return response;
} catch (...) {
  return nullptr;
}

std::unique_ptr<InferResponse> ResponseStream::NewResponse() {
  // What the allocator needs may be gone once the final response was delivered.
  if (!final_sent()) {
    if (absl::Status started = target_.allocator->Start(target_.allocator_userp); !started.ok()) {
      LOG_ERROR_SELDOM << About() << "response allocation start failed: " << started.message();
    }
  }
  return std::make_unique<InferResponse>(shared_from_this(), model(), request_id_,
                                         target_.allocator, target_.allocator_userp, trace_);
}

bool ResponseStream::BeginDelivery(std::unique_ptr<InferResponse>* response, uint32_t flags,
                                   bool* held) {
  const bool is_final = (flags & kResponseCompleteFinal) != 0;
  uint32_t sends = 0;
  // The usual case: the first response is also the last.
  if (is_final && sends_.compare_exchange_strong(sends, kFinalSent, std::memory_order_acq_rel)) {
    return true;
  }
  MutexLock lock(&mu_);
  sends = sends_.load(std::memory_order_acquire);
  do {
    if ((sends & kFinalSent) != 0) return false;
  } while (!sends_.compare_exchange_weak(sends, is_final ? sends | kFinalSent : sends + 1,
                                         std::memory_order_acq_rel));
  *held = is_final && sends > 0;
  if (*held) held_final_ = HeldResponse{std::move(*response), flags};
  return true;
}

absl::Status ResponseStream::Send(std::unique_ptr<InferResponse> response, uint32_t flags) {
  const bool is_final = (flags & kResponseCompleteFinal) != 0;
  bool held = false;
  if (!BeginDelivery(&response, flags, &held)) {
    if (unread_.load(std::memory_order_acquire)) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(
        "[request id: ", request_id_.empty() ? "<id_unknown>" : request_id_, "] model '",
        model()->config().name, "': a response was sent after the final one; it is dropped"));
  }
  if (held) return absl::OkStatus();
  // Also runs if the relay throws for lack of memory: a held final response must not wait for ever.
  absl::Cleanup delivered = [this] { EndDelivery(); };
  if (is_final) std::move(delivered).Cancel();
  Deliver(std::move(response), flags);
  return absl::OkStatus();
}

void ResponseStream::EndDelivery() {
  std::optional<HeldResponse> final_response;
  {
    MutexLock lock(&mu_);
    const uint32_t left = sends_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == kFinalSent) final_response = std::exchange(held_final_, std::nullopt);
  }
  if (final_response.has_value()) {
    Deliver(std::move(final_response->response), final_response->flags);
  }
}

void ResponseStream::SendFinalError(const absl::Status& error) {
  if (final_sent()) return;
  std::unique_ptr<InferResponse> response;
  try {
    response = NewResponse();
    response->set_status(error);
  } catch (const std::bad_alloc&) {
    response = nullptr;  // the client at least learns that the request has ended
  }
  Send(std::move(response), kResponseCompleteFinal).IgnoreError();  // fails if another was faster
}

void ResponseStream::OnCredit(ResponseCredit::Waiter waiter) {
  if (HasCredit()) return waiter();
  model()->AddWaiting(target_.credit);
  // The call may come while or after the stream ends, on another thread: until then, the model and
  // its backend stay.
  target_.credit->OnCredit(
      [pass = pass_.Another(), waiter = std::move(waiter)]() mutable { waiter(); });
}

void ResponseStream::Cancel() {
  cancelled_.store(true, std::memory_order_release);
  if (target_.credit != nullptr) target_.credit->Waive().Call();
}

void ResponseStream::NoteNoRoom() {
  if (target_.credit == nullptr || !target_.credit->full() || final_sent()) return;
  const absl::Status error = UnreadError(request_id_, model()->config().name, held());
  if (unread_.exchange(true)) return;
  LOG_WARNING << About() << error.message();
  SendFinalError(error);
  Cancel();
}

void ResponseStream::LookAt(const InferResponse* response, uint32_t flags) noexcept try {
  if (trace_ != nullptr && response != nullptr) TraceResponse(trace_.get(), *response);
  if (tap_ != nullptr) tap_->OnResponse(response, flags);
} catch (const std::bad_alloc&) {
  // The client gets the response even if the trace or the tap misses it.
}

void ResponseStream::NoteOutcome(FlightOutcome outcome) {
  if (!final_sent()) SetOutcome(outcome);
}

void ResponseStream::SetOutcome(FlightOutcome outcome) {
  FlightOutcome none = FlightOutcome::kOk;
  outcome_.compare_exchange_strong(none, outcome, std::memory_order_relaxed);
}

void ResponseStream::NoteRefusal(uint64_t now_ns) {
  if (!flight_.has_value()) return;
  NoteOutcome(FlightOutcome::kRefused);
  flight_->answered = flight_->sent = now_ns;
}

void ResponseStream::WriteRecord() {
  if (flight_->sent == 0) return;  // the request was never issued
  flight_->outcome = outcome_.load(std::memory_order_relaxed);
  model()->recorder().Record(*flight_);
}

void ResponseStream::RecordFirstResponse(TimePoint now) {
  const uint64_t start = first_response_from_.exchange(0, std::memory_order_relaxed);
  if (start == 0) return;
  const uint64_t end = ToNanos(now);
  model()->statistics().RecordFirstResponse(end > start ? end - start : 0);
}

void ResponseStream::Record(const ExecutionReport& report) {
  ModelStatistics& statistics = model()->statistics();
  if (!model()->config().decoupled) return statistics.Record(report);
  auto kept = std::make_unique<ExecutionReport>(report);
  {
    MutexLock lock(&mu_);
    // Whoever sends the final response takes the mutex after it has marked it as sent.
    if (!final_sent()) std::swap(kept, report_);
  }
  // A second report before the end, which no good backend makes, ends the time of the first.
  if (kept != nullptr) statistics.Record(*kept);
}

void ResponseStream::RecordReport(TimePoint now) {
  std::unique_ptr<ExecutionReport> report;
  {
    MutexLock lock(&mu_);
    report = std::move(report_);
  }
  if (report == nullptr) return;
  report->times.request_end = std::max(report->times.request_end, ToNanos(now));
  model()->statistics().Record(*report);
}

void ResponseStream::Deliver(std::unique_ptr<InferResponse> response, uint32_t flags) {
  if (response != nullptr) response->FinishOutputs();
  LookAt(response.get(), flags);
  const bool has_response = response != nullptr;
  const bool is_final = (flags & kResponseCompleteFinal) != 0;
  if (has_response && !response->status().ok()) {
    SetOutcome(absl::IsCancelled(response->status()) ? FlightOutcome::kCancelled
                                                     : FlightOutcome::kError);
  }
  // The receiver must not keep the stream alive, so the response's reference is dropped. That is
  // safe, because the caller of Send holds its own reference.
  if (response != nullptr) response->TakeStream().reset();
  const Clock* const clock = model()->clock();
  const TimePoint start = clock->Now();
  if (has_response && first_response_from_.load(std::memory_order_relaxed) != 0) {
    RecordFirstResponse(start);
  }
  if (is_final && model()->config().decoupled) RecordReport(start);
  const Duration before = time_in_receivers;
  if (relay_ != nullptr) {
    relay_->Relay(std::move(response), flags, target_);
  } else {
    target_.fn(response.release(), flags, target_);
  }
  const TimePoint end = clock->Now();
  // Includes responses that the receiver sent meanwhile, so their time is not added again.
  time_in_receivers = before + (end - start);
  if (is_final && flight_.has_value()) {
    flight_->answered = ToNanos(start);
    flight_->sent = ToNanos(end);
  }
  if (is_final && target_.credit != nullptr) target_.credit->Waive().Call();
}

Duration ResponseStream::TimeInReceivers() { return time_in_receivers; }

}  // namespace nereid
