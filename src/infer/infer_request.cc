// SPDX-License-Identifier: Apache-2.0
#include "infer/infer_request.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "infer/input_recorder.h"
#include "infer/request_trace.h"
#include "infer/request_validator.h"
#include "infer/response.h"

namespace nereid {

// ---- States.

namespace {

const char* Name(RequestState state) {
  switch (state) {
    case RequestState::kInitialized:
      return "INITIALIZED";
    case RequestState::kPending:
      return "PENDING";
    case RequestState::kExecuting:
      return "EXECUTING";
    case RequestState::kReleased:
      return "RELEASED";
    case RequestState::kFailedEnqueue:
      return "FAILED_ENQUEUE";
  }
  return "UNKNOWN";
}

bool Allowed(RequestState from, RequestState to) {
  switch (from) {
    case RequestState::kInitialized:
      return to == RequestState::kPending || to == RequestState::kReleased;
    case RequestState::kPending:
      return to == RequestState::kExecuting || to == RequestState::kReleased ||
             to == RequestState::kFailedEnqueue;
    case RequestState::kExecuting:
      return to == RequestState::kReleased || to == RequestState::kPending;
    case RequestState::kReleased:
    case RequestState::kFailedEnqueue:
      return to == RequestState::kInitialized;
  }
  return false;
}

}  // namespace

absl::Status RequestLifecycle::MoveTo(RequestState next, absl::string_view log_prefix) {
  if (next == state_) return absl::OkStatus();
  if (!Allowed(state_, next)) {
    return absl::InternalError(absl::StrCat(log_prefix, "Invalid request state transition from ",
                                            Name(state_), " to ", Name(next)));
  }
  state_ = next;
  return absl::OkStatus();
}

// ---- The request.

namespace {

FlightOutcome OutcomeOf(FailureReason reason) {
  switch (reason) {
    case FailureReason::kRejected:
      return FlightOutcome::kTimedOut;
    case FailureReason::kCanceled:
      return FlightOutcome::kCancelled;
    case FailureReason::kBackend:
    case FailureReason::kOther:
      return FlightOutcome::kError;
  }
  return FlightOutcome::kError;
}

// See FlightRecord::shapes. Never 0.
uint32_t ShapesKey(const absl::InlinedVector<InferInput, 2>& inputs, bool batched) {
  uint64_t key = 14695981039346656037u;  // FNV-1a, of whole numbers
  const auto add = [&key](uint64_t number) { key = (key ^ number) * 1099511628211u; };
  for (const InferInput& input : inputs) {
    const auto& shape = input.shape();
    add(shape.size());
    for (size_t i = batched ? 1 : 0; i < shape.size(); ++i) add(static_cast<uint64_t>(shape[i]));
  }
  return static_cast<uint32_t>(key ^ (key >> 32)) | 1;
}

}  // namespace

void RequestReleaser::operator()(InferRequest* request) const {
  request->Release(kRequestReleaseAll);
}

InferRequest::~InferRequest() = default;

LogAbout InferRequest::About() const try {
  if (!issued_) return {id(), model()->config().name, trace_ == nullptr ? "" : trace_->LogId()};
  // Once issued, another thread may release the request meanwhile, and with it trace_.
  const std::shared_ptr<ResponseStream> stream = stream_handle_.lock();
  return stream == nullptr ? LogAbout{id(), model()->config().name, ""} : stream->About();
} catch (const std::bad_alloc&) {
  return {};
}

absl::Status InferRequest::Cancel() {
  if (!issued_) {
    return absl::InternalError(
        "It is not possible to cancel an inference request before calling "
        "TRITONSERVER_InferAsync.");
  }
  if (const std::shared_ptr<ResponseStream> stream = stream_handle_.lock()) {
    stream->Cancel();
    model()->OnCancel(this);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> InferRequest::IsCancelled() const {
  if (!issued_) {
    return absl::InternalError(
        "It is not possible to query cancellation status before calling "
        "TRITONSERVER_InferAsync.");
  }
  const std::shared_ptr<ResponseStream> stream = stream_handle_.lock();
  return stream != nullptr && stream->IsCancelled();
}

void InferRequest::BeginFlight(ModelPass pass, uint64_t now_ns) {
  priority_ = model()->config().batching.LevelOf(asked_priority());
  request_start_ns_ = now_ns;
  queue_start_ns_ = 0;
  stream_ = std::make_shared<ResponseStream>(std::move(pass), id(), response_target(), trace_);
  if (!is_synthetic_ && model()->statistics().latencies().counts_first_responses()) {
    stream_->CountFirstResponse(now_ns);
  }
  if (!is_synthetic_ && model()->recorder().enabled()) stream_->BeginRecord(now_ns);
  stream_handle_ = stream_;
  issued_ = true;
  custody_.store(Custody::kCore, std::memory_order_relaxed);
}

void InferRequest::CompleteRecord() {
  FlightRecord* const flight = stream_->flight();
  if (flight == nullptr) return;
  if (flight->queue_start == 0) flight->queue_start = queue_start_ns_;
  flight->parent = ensemble_;
  flight->step = step_;
  flight->priority = priority_;
  flight->batch_size = batch_size();
  flight->timeout_us = timeout_us();
  flight->flags = static_cast<uint16_t>(flags());
  if (model()->config().needs_shape_equality)
    flight->shapes = ShapesKey(inputs(), batch_size() > 0);
  if (correlation_id().is_string()) {
    flight->sequence_text.Set(correlation_id().string_value());
  } else {
    flight->sequence = correlation_id().uint_value();
  }
}

void InferRequest::AbortFlight() {
  CompleteRecord();
  ClearOverrideInputs();
  sequence_states_ = nullptr;
  stream_->Abandon();
  stream_.reset();
  issued_ = false;
  custody_.store(Custody::kMaker, std::memory_order_relaxed);
}

void InferRequest::RespondError(const absl::Status& error, FailureReason reason) {
  if (!is_synthetic_) {
    model()->statistics().RecordFailure(ModelStatistics::kModelShard, reason,
                                        ToNanos(model()->clock()->Now()) - request_start_ns_);
  }
  stream_->NoteOutcome(OutcomeOf(reason));
  stream_->SendFinalError(error);
}

void InferRequest::Reschedule() {
  if (absl::Status moved = lifecycle_.MoveTo(RequestState::kPending, ""); !moved.ok()) {
    LOG_ERROR_SELDOM << About() << moved.message();
  }
  model()->statistics().AddPending(1);
  lent_batch_.reset();
  CompleteRecord();  // the record begins with the first of several turns in the queue
  if (trace_ != nullptr) {
    trace_->Report(TraceActivity::kQueueStart, ToNanos(model()->clock()->Now()));
  }
  std::exchange(release_watcher_, nullptr)->OnReschedule(RequestPtr(this));
}

void InferRequest::Release(uint32_t flags) {
  if (lifecycle_.state() == RequestState::kPending && !is_synthetic_) {
    model()->statistics().AddPending(-1);
  }
  if (absl::Status moved = lifecycle_.MoveTo(RequestState::kReleased, ""); !moved.ok()) {
    LOG_ERROR_SELDOM << About() << moved.message();
  }
  lent_batch_.reset();
  ClearOverrideInputs();
  sequence_states_ = nullptr;
  if (release_watcher_ != nullptr) std::exchange(release_watcher_, nullptr)->OnRelease(this);
  CompleteRecord();
  units_.Return();
  if (trace_ != nullptr) {
    trace_->Report(TraceActivity::kRequestEnd, ToNanos(model()->clock()->Now()));
    trace_.reset();
  }
  // This may be the last reference to the stream, whose destructor then answers the client. It is
  // dropped before the callback, because after that the request belongs to its maker again.
  stream_.reset();
  const ReleaseTarget release = release_target();
  Custody custody = Custody::kCore;
  const bool is_makers =
      custody_.compare_exchange_strong(custody, Custody::kMaker, std::memory_order_acq_rel);
  release.fn(this, flags, release);
  if (!is_makers) delete this;
}

absl::Status InferRequest::Delete(InferRequest* request) {
  Custody custody = Custody::kCore;
  if (request->custody_.compare_exchange_strong(custody, Custody::kCoreAlone,
                                                std::memory_order_acq_rel)) {
    return absl::OkStatus();
  }
  if (custody == Custody::kMaker) {
    delete request;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "the request was deleted already; it is freed when its release callback has returned");
}

// ---- Issue.

absl::Status IssueRequest(ModelPass pass, InferRequest* request, uint64_t now_ns, TracePtr* trace) {
  const bool traced = trace != nullptr && *trace != nullptr;
  if (traced) request->set_trace(std::move(*trace));
  absl::Cleanup give_back_trace = [&] {
    if (traced) *trace = request->TakeTrace();
  };
  RETURN_IF_ERROR(RequestValidator::Prepare(request));
  request->BeginFlight(std::move(pass), now_ns);
  absl::Cleanup abort = [request] { request->AbortFlight(); };
  if (request->trace() != nullptr) TraceIssued(request);
  if (InputRecorder* const recorder = request->model()->input_recorder(); recorder != nullptr) {
    recorder->Keep(*request);
  }
  ModelStatistics& statistics = request->model()->statistics();
  // Cannot fail: the request is INITIALIZED.
  request->lifecycle().MoveTo(RequestState::kPending, "").IgnoreError();
  statistics.AddPending(1);
  // The scheduler may finish with the request before Enqueue returns; `owned` keeps it on error.
  const std::shared_ptr<ServingModel> model = request->model();
  // Not more, since the end of the stream, which may answer the client, must not come here.
  const std::weak_ptr<ResponseStream> stream = request->stream();
  RequestPtr owned(request);
  absl::Cleanup take_back = [&] {
    owned.release()->lifecycle().MoveTo(RequestState::kFailedEnqueue, "").IgnoreError();
    statistics.AddPending(-1);
  };
  absl::Status enqueued;
  try {
    enqueued = model->Enqueue(&owned);
  } catch (...) {
    if (owned != nullptr) throw;
    // The scheduler has the request and will answer it, so the call does not fail.
    const std::shared_ptr<ResponseStream> open = stream.lock();
    LOG_ERROR_SELDOM << (open == nullptr ? LogAbout{"", model->config().name, ""} : open->About())
                     << "model '" << model->config().name
                     << "': an exception after a request was queued";
  }
  if (!enqueued.ok()) {
    request->stream()->NoteRefusal(ToNanos(model->clock()->Now()));
    return enqueued;
  }
  std::move(take_back).Cancel();
  std::move(abort).Cancel();
  std::move(give_back_trace).Cancel();
  return enqueued;
}

}  // namespace nereid
