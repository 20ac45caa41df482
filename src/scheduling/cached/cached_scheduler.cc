// SPDX-License-Identifier: Apache-2.0
#include "scheduling/cached/cached_scheduler.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cache/packed_response.h"
#include "infer/response.h"
#include "scheduling/scheduler.h"

namespace nereid {
namespace {

constexpr uint64_t kMaxWaitingInsertBytes = 64 << 20;
constexpr std::chrono::seconds kLogInterval(1);

// Whether there are bytes that only a GPU can read.
bool IsOnGpu(const InferResponse& response) {
  return std::any_of(
      response.outputs().begin(), response.outputs().end(),
      [](const ResponseOutput& output) { return output.buffer().place.type == MemoryType::kGpu; });
}

}  // namespace

// Waits for the response to a request that was not in the cache.
class CachedScheduler::Tap final : public ResponseTap {
 public:
  Tap(CachedScheduler* scheduler, std::string key, Duration looked_up)
      : scheduler_(scheduler), key_(std::move(key)), looked_up_(looked_up) {}

  void OnResponse(const InferResponse* response, uint32_t flags) override {
    // Only a successful response that is the whole answer is kept.
    const bool whole = (flags & kResponseCompleteFinal) != 0 && !others_.load();
    if (response == nullptr || !whole || !response->status().ok() || IsOnGpu(*response)) {
      others_.store(true);
      return;
    }
    if (scheduler_->cache_->answers_at_once()) {
      scheduler_->Keep(*response, key_, looked_up_, response->model());
    } else {
      scheduler_->KeepLater(*response, key_, looked_up_, response->model());
    }
  }

 private:
  CachedScheduler* const scheduler_;  // owned by the model, which the stream keeps alive
  const std::string key_;
  const Duration looked_up_;
  std::atomic<bool> others_{false};
};

CachedScheduler::CachedScheduler(std::unique_ptr<Scheduler> inner, ResponseCache* cache,
                                 ThreadPool* executor, const CompiledModel& model,
                                 absl::string_view fingerprint, Clock* clock)
    : SchedulerLayer(std::move(inner)),
      cache_(cache),
      executor_(executor),
      model_name_(model.name),
      keys_(model, fingerprint),
      clock_(clock),
      waiting_inserts_("responses waiting for the cache", kMaxWaitingInsertBytes) {}

absl::Status CachedScheduler::Enqueue(RequestPtr* request) {
  InferRequest& r = **request;
  if (closed_.load(std::memory_order_acquire)) return EnqueueClosed(request);
  if (r.queue_start_ns() == 0) r.set_queue_start_ns(ToNanos(clock_->Now()));
  // An answer from the cache would be copied to a GPU on the thread that brings the request.
  if (!CacheKeys::CanName(r) || r.response_target().on_gpu) return inner().Enqueue(request);
  if (cache_->answers_at_once()) {
    return LookUp(request) == Found::kHit ? absl::OkStatus() : inner().Enqueue(request);
  }
  Gate::Pass inside = looking_up_.Enter();
  if (!inside) return EnqueueClosed(request);   // closed since the check above
  InlineTurn* const turn = r.TakeInlineTurn();  // the job may run after the turn has ended
  absl::Cleanup give_back = [&] { r.set_inline_turn(turn); };
  // The job holds the model, which owns this object: the request may be gone before the job ends.
  const bool taken =
      executor_->TryRun([this, raw = &r, model = r.model(), inside = std::move(inside)]() mutable {
        LookUpAndEnqueue(RequestPtr(raw));
        inside = Gate::Pass();  // before the job releases the model, which owns the gate
      });
  if (taken) {
    std::move(give_back).Cancel();
    (void)request->release();  // the job owns it
    return absl::OkStatus();
  }
  // The cache does not keep up with the look-ups: computing is faster than waiting for it.
  std::move(give_back).Invoke();
  return inner().Enqueue(request);
}

absl::Status CachedScheduler::EnqueueClosed(RequestPtr* request) {
  if (!(*request)->passes_closed_admission()) return StoppingError(**request);
  return inner().Enqueue(request);
}

void CachedScheduler::LookUpAndEnqueue(RequestPtr request) {
  const std::shared_ptr<ResponseStream> stream = request->stream();
  if (!stream->IsCancelled() && LookUp(&request) == Found::kHit) return;
  if (stream->IsCancelled()) {
    request->RespondError(absl::CancelledError(""), FailureReason::kCanceled);
    return;
  }
  if (const absl::Status queued = inner().Enqueue(&request); !queued.ok()) {
    if (closed_.load(std::memory_order_acquire)) {
      request->RespondError(queued, FailureReason::kOther);
    } else {
      request->stream()->SendFinalError(queued);  // a full queue: counted by `inner`
    }
  }
}

CachedScheduler::Found CachedScheduler::LookUp(RequestPtr* request) {
  InferRequest& r = **request;
  const TimePoint asked = clock_->Now();
  std::string key = keys_.Of(r);
  std::unique_ptr<InferResponse> response;
  FlightRecord* const flight = r.stream()->flight();
  const absl::Status found = cache_->Lookup(key, [&](absl::string_view bytes) {
    response = r.stream()->NewResponse();
    return UnpackResponse(bytes, response.get());
  });
  if (found.ok()) {
    Answer(std::move(*request), std::move(response), asked);
    return Found::kHit;
  }
  response.reset();
  const TimePoint looked_up = clock_->Now();
  if (flight != nullptr) flight->looked_up = ToNanos(looked_up);
  if (!absl::IsNotFound(found)) {
    LogFailure([&r] { return r.About(); }, "Failed to look up", found);
    return Found::kNothing;
  }
  r.stream()->SetTap(std::make_unique<Tap>(this, std::move(key), looked_up - asked));
  return Found::kMiss;
}

void CachedScheduler::Answer(RequestPtr request, std::unique_ptr<InferResponse> response,
                             TimePoint asked) {
  const uint64_t now = ToNanos(clock_->Now());
  CacheHitTimes times;
  times.request_start = request->request_start_ns();
  times.queue_start = request->queue_start_ns();
  times.lookup_start = ToNanos(asked);
  times.lookup_end = now;
  times.request_end = now;
  // Recorded before the answer is sent, so that a client that has its answer finds it counted.
  request->model()->statistics().RecordCacheHit(times);
  const std::shared_ptr<ResponseStream> stream = request->stream();
  if (FlightRecord* const flight = stream->flight(); flight != nullptr) flight->looked_up = now;
  stream->NoteOutcome(FlightOutcome::kCacheHit);
  const absl::Status sent = stream->Send(std::move(response), kResponseCompleteFinal);
  if (!sent.ok()) LOG_ERROR_SELDOM << stream->About() << sent.message();
}

void CachedScheduler::Keep(const InferResponse& response, const std::string& key,
                           Duration looked_up, const std::shared_ptr<ServingModel>& model) {
  const auto about = [&response] { return response.stream()->About(); };
  if (const absl::Status packable = CheckPackable(response); !packable.ok()) {
    return LogFailure(about, "Failed to insert", packable);
  }
  const TimePoint start = clock_->Now();
  const absl::Status inserted =
      cache_->Insert(key, PackedSize(response), [&](char* to) { PackResponse(response, to); });
  NoteInserted(inserted, start, looked_up, model.get(), about);
}

void CachedScheduler::KeepLater(const InferResponse& response, const std::string& key,
                                Duration looked_up, const std::shared_ptr<ServingModel>& model) {
  const auto about = [&response] { return response.stream()->About(); };
  if (const absl::Status packable = CheckPackable(response); !packable.ok()) {
    return LogFailure(about, "Failed to insert", packable);
  }
  struct Waiting {
    std::vector<char> bytes;  // a copy, because the response is about to be sent
    BudgetUnits units;
    LogAbout about;
  };
  const auto waiting = std::make_shared<Waiting>();
  const size_t size = PackedSize(response);
  absl::StatusOr<BudgetUnits> units = waiting_inserts_.Take(size);
  if (!units.ok()) return LogFailure(about, "Failed to insert", units.status());
  waiting->units = *std::move(units);
  waiting->bytes.resize(size);
  PackResponse(response, waiting->bytes.data());
  waiting->about = about();
  const bool taken = executor_->TryRun([this, key, looked_up, model, waiting] {
    const TimePoint start = clock_->Now();
    const std::vector<char>& bytes = waiting->bytes;
    const absl::Status inserted = cache_->Insert(
        key, bytes.size(), [&](char* to) { std::copy(bytes.begin(), bytes.end(), to); });
    NoteInserted(inserted, start, looked_up, model.get(), [&waiting] { return waiting->about; });
    waiting->units.Return();  // before the job releases the model, which owns the budget
  });
  if (!taken) {
    LogFailure(about, "Failed to insert", absl::UnavailableError("the cache does not keep up"));
  }
}

void CachedScheduler::NoteInserted(const absl::Status& inserted, TimePoint start,
                                   Duration looked_up, ServingModel* model, About about) {
  // Another request with the same key was answered at the same time.
  if (absl::IsAlreadyExists(inserted)) return;
  const TimePoint now = clock_->Now();
  const Duration took = looked_up + (now - start);
  model->statistics().RecordCacheMiss(ToNanos(now), static_cast<uint64_t>(took.count()));
  if (!inserted.ok()) LogFailure(about, "Failed to insert", inserted);
}

void CachedScheduler::CloseAdmission() {
  closed_.store(true, std::memory_order_release);
  // Requests that are being looked up are still served: the inner scheduler closes after them.
  looking_up_.Close([this] { inner().CloseAdmission(); });
}

void CachedScheduler::Shutdown() {
  closed_.store(true, std::memory_order_release);
  inner().Shutdown();
}

void CachedScheduler::LogFailure(About about, absl::string_view what, const absl::Status& error) {
  uint64_t unlogged;
  {
    MutexLock lock(&log_mu_);
    const TimePoint now = clock_->Now();
    if (now < log_again_at_) {
      ++unlogged_;
      return;
    }
    log_again_at_ = now + kLogInterval;
    unlogged = std::exchange(unlogged_, 0);
  }
  LOG_ERROR << about() << what << " a response of model '" << model_name_ << "' in cache '"
            << cache_->name() << "': " << error.message()
            << (unlogged > 0 ? absl::StrCat(" (", unlogged, " more since the last message)") : "");
}

}  // namespace nereid
