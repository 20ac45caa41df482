// SPDX-License-Identifier: Apache-2.0
#include "scheduling/sequence/sequence_scheduler.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/caught.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "scheduling/dynamic/request_queue.h"
#include "scheduling/scheduler.h"
#include "scheduling/sequence/sequence_strategy.h"

namespace nereid {
namespace {

constexpr char kExpiredText[] = "timeout of the corresponding sequence has been expired";

void Answer(RequestPtr request, const absl::Status& error, FailureReason reason) {
  if (!request->is_synthetic()) request->RespondError(error, reason);
}

void AnswerAll(std::list<QueuedRequest> requests, const absl::Status& error, FailureReason reason) {
  for (QueuedRequest& queued : requests) Answer(std::move(queued.request), error, reason);
}

bool HasFlag(const InferRequest& request, uint32_t flag) { return (request.flags() & flag) != 0; }

}  // namespace

void SequenceScheduler::Aftermath::Finish() noexcept {
  // Usually there are none, and then no error has to be made.
  if (!cancelled.empty()) {
    AnswerAll(std::exchange(cancelled, {}), absl::CancelledError(""), FailureReason::kCanceled);
  }
  if (!expired.empty()) {
    AnswerAll(std::exchange(expired, {}), SureStatus(absl::StatusCode::kUnavailable, kExpiredText),
              FailureReason::kRejected);
  }
  if (!stopped.empty()) {
    AnswerAll(std::exchange(stopped, {}), SureStatus(absl::StatusCode::kUnavailable, kStoppingText),
              FailureReason::kOther);
  }
  ended.clear();
}

SequenceScheduler::SequenceScheduler(const CompiledModel* config, uint32_t instances, Clock* clock,
                                     const SequenceSchedulerOptions& options)
    : config_(config),
      clock_(clock),
      controls_(config),
      slots_(instances, config->sequence.slots),
      reaper_(config->sequence.max_idle),
      hold_until_queued_(options.hold_until_queued),
      hold_until_backlogged_(options.hold_until_backlogged) {
  for (uint32_t i = 0; i < instances; ++i) {
    lanes_.push_back(std::make_unique<Lane>(this, i, SequenceStrategy::Make(config)));
  }
  if (options.timer != nullptr) {
    alarm_.Start(options.timer, [this] { OnTimer(); });
  }
}

SequenceScheduler::~SequenceScheduler() { Shutdown(); }

// ---- Requests arrive.

absl::Status SequenceScheduler::CheckRequest(const InferRequest& request) const {
  if (request.batch_size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("inference request to model '", config_->name,
                     "' must specify batch-size 1 due to requirements of sequence batcher"));
  }
  if (!request.correlation_id().present() && !config_->sequence.iterative) {
    return absl::InvalidArgumentError(
        absl::StrCat("inference request to model '", config_->name,
                     "' must specify a non-zero or non-empty correlation ID"));
  }
  return absl::OkStatus();
}

absl::Status SequenceScheduler::Enqueue(RequestPtr* owned) {
  InferRequest& request = **owned;
  RETURN_IF_ERROR(CheckRequest(request));
  const TimePoint now = clock_->Now();
  Aftermath aftermath;
  struct NewBeginning {
    LogAbout about;
    std::string id;
  };
  std::optional<NewBeginning> again;  // of a live sequence; logged without the lock
  {
    MutexLock lock(&mu_);
    // Nothing may be queued: no instance pulls any more.
    if (shut_down_) return absl::UnavailableError(kStoppingText);
    const bool nameless = !request.correlation_id().present();
    const bool starts = nameless || HasFlag(request, kRequestFlagSequenceStart);
    if (starts && admission_closed_ && !request.passes_closed_admission()) {
      return absl::UnavailableError(kStoppingText);
    }
    LiveSequence* sequence = nameless ? nullptr : Find(request.correlation_id());
    if (sequence == nullptr && !starts) {
      return absl::InvalidArgumentError(absl::StrCat(
          "inference request for sequence ", request.correlation_id().ToString(), " to model '",
          config_->name, "' must specify the START flag on the first request of the sequence"));
    }
    const uint32_t maker_flags = request.flags();
    const bool is_new = sequence == nullptr;
    // If something throws, the request goes back unchanged, and a sequence that began with it ends.
    absl::Cleanup undo = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      if (is_new && sequence != nullptr) End(sequence, now, &aftermath);
      if (!is_new || !nameless) return;
      request.set_flags(maker_flags);
      request.set_correlation_id(CorrelationId());
    };
    if (is_new) {
      if (nameless) GenerateId(&request);
      sequence = Begin(&request);
      sequence->generated_id = nameless;
      if (nameless) sequence->maker_flags = maker_flags;
    } else if (starts) {
      again.emplace(NewBeginning{request.About(), sequence->id.ToString()});
    }
    if (request.queue_start_ns() == 0) request.set_queue_start_ns(ToNanos(now));
    const bool cancelled = request.stream()->IsCancelled();
    const bool ends = HasFlag(request, kRequestFlagSequenceEnd);
    Append(sequence, owned, now);
    std::move(undo).Cancel();
    if (ends) Close(sequence);
    if (cancelled) TryDropCancelled(sequence, now, &aftermath);
    ArmTimer();
    // Requests that were held back may be due now for any of the instances.
    if ((hold_until_queued_ > 0 || hold_until_backlogged_ > 0) && !Holding()) WakeAll();
  }
  aftermath.Finish();
  if (again.has_value()) {
    LOG_WARNING_SELDOM << std::move(again->about) << "model '" << config_->name << "': sequence "
                       << again->id << " begins anew before it has ended";
  }
  return absl::OkStatus();
}

LiveSequence* SequenceScheduler::Find(const CorrelationId& id) const {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : found->second;
}

bool SequenceScheduler::HasSequence(const CorrelationId& id) const {
  MutexLock lock(&mu_);
  return Find(id) != nullptr;
}

size_t SequenceScheduler::live_sequences() const {
  MutexLock lock(&mu_);
  return sequences_.size();
}

std::optional<size_t> SequenceScheduler::sequences_in_slots() const {
  MutexLock lock(&mu_);
  return slots_.in_use();
}

void SequenceScheduler::DescribeMetrics(MetricSink* sink) const {
  Scheduler::DescribeMetrics(sink);
  BatchReasonCounts reasons;
  {
    MutexLock lock(&mu_);
    reasons = reasons_;
  }
  reasons.DescribeMetrics(sink);
}

size_t SequenceScheduler::backlogged_sequences() const {
  MutexLock lock(&mu_);
  return backlog_.sequences();
}

void SequenceScheduler::GenerateId(InferRequest* request) {
  do {
    ++last_generated_;
  } while (Find(CorrelationId(last_generated_)) != nullptr);
  request->set_correlation_id(CorrelationId(last_generated_));
  request->set_flags(request->flags() | kRequestFlagSequenceStart);
}

std::optional<SlotLease> SequenceScheduler::TakeSlot() {
  return slots_.Take([this](uint32_t instance) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    // Instances may have gone when the scheduler is shut down.
    const BatchExecutor* const executor = lanes_[instance]->executor;
    return shut_down_ || executor == nullptr || !executor->yields();
  });
}

void SequenceScheduler::EmptyBacklog(TimePoint now) noexcept try {
  while (!backlog_.empty()) {
    const std::optional<SlotLease> lease = TakeSlot();
    if (!lease.has_value()) return;
    LiveSequence* const next = sequences_.find(*backlog_.PopFront())->second.get();
    next->lease = lease;
    next->left_backlog_ns = ToNanos(now);
    Offer(next, now);
  }
} catch (const std::bad_alloc&) {
  LookAgain(now);
}

void SequenceScheduler::Nudge() {
  MutexLock lock(&mu_);
  if (shut_down_) return;
  EmptyBacklog(clock_->Now());
  ArmTimer();
}

LiveSequence* SequenceScheduler::Begin(InferRequest* first) {
  auto owned = std::make_unique<LiveSequence>(++last_number_, first->stream()->pass().Another());
  LiveSequence* const sequence = owned.get();
  sequence->id = first->correlation_id();
  sequence->id_tensor = controls_.EncodeId(sequence->id);
  sequence->shape = InputShapes::Of(*first);
  sequence->states = SequenceStates::Create(*config_);
  const auto added = sequences_.emplace(sequence->number, std::move(owned)).first;
  absl::Cleanup undo = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { sequences_.erase(added); };
  const auto opened = open_.emplace(sequence->id, sequence).first;
  absl::Cleanup close = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { open_.erase(opened); };
  // Sequences in the backlog come first.
  if (backlog_.empty()) sequence->lease = TakeSlot();
  std::move(close).Cancel();
  std::move(undo).Cancel();
  return sequence;
}

void SequenceScheduler::Append(LiveSequence* sequence, RequestPtr* request, TimePoint now) {
  const uint64_t timeout_us = (*request)->timeout_us();
  Requests one(1);
  if (!sequence->lease.has_value()) {
    constexpr uint64_t kLongest = static_cast<uint64_t>(Duration::max().count()) / 1000;
    backlog_.Add(sequence->number,
                 timeout_us == 0
                     ? TimePoint::max()
                     : Later(now, std::chrono::microseconds(std::min(timeout_us, kLongest))));
  }
  // From here on nothing takes memory.
  (*request)->PutSlot(sequence);
  one.front() = {std::move(*request), now};
  sequence->queue.splice(sequence->queue.end(), one);
  if (!sequence->lease.has_value()) return;
  reaper_.Forget(sequence->number);
  Offer(sequence, now);
}

void SequenceScheduler::Offer(LiveSequence* sequence, TimePoint now) noexcept {
  if (sequence->offered || sequence->in_flight || sequence->queue.empty()) return;
  Lane& lane = LaneOf(*sequence);
  try {
    lane.strategy->Offer(sequence, now);
  } catch (const std::bad_alloc&) {
    return LookAgain(now);
  }
  lane.wake.NotifyOne();
}

void SequenceScheduler::Watch(LiveSequence* sequence, TimePoint now) noexcept try {
  reaper_.Watch(sequence->number, now);
} catch (const std::bad_alloc&) {
  LookAgain(now);
}

void SequenceScheduler::LookAgain(TimePoint now) noexcept {
  look_again_ = now + kMemoryStep;
  ArmTimer();
}

// ---- Sequences end.

void SequenceScheduler::Close(LiveSequence* sequence) {
  sequence->ending = true;
  if (Find(sequence->id) == sequence) open_.erase(sequence->id);
}

SequenceScheduler::Requests SequenceScheduler::MakeEnd(LiveSequence* sequence, TimePoint now) {
  Requests end(1);
  RequestPtr request = MakeSyntheticRequest(sequence->pass.Another(), sequence->shape, now);
  request->set_correlation_id(sequence->id);
  request->set_flags(kRequestFlagSequenceEnd);
  request->PutSlot(sequence);
  end.front() = {std::move(request), now};
  return end;
}

void SequenceScheduler::QueueEnd(LiveSequence* sequence, Requests end, TimePoint now) noexcept {
  sequence->queue.splice(sequence->queue.end(), end);
  Offer(sequence, now);
}

void SequenceScheduler::End(LiveSequence* sequence, TimePoint now, Aftermath* aftermath) noexcept {
  Close(sequence);
  reaper_.Forget(sequence->number);
  backlog_.Remove(sequence->number);
  if (sequence->lease.has_value()) slots_.Free(*sequence->lease);
  aftermath->ended.insert(sequences_.extract(sequence->number));
  EmptyBacklog(now);
}

void SequenceScheduler::Drop(LiveSequence* sequence, Why why, TimePoint now, Aftermath* aftermath) {
  const bool tell = why != Why::kStopped && sequence->started && !config_->sequence.iterative;
  Requests end;
  if (tell) end = MakeEnd(sequence, now);
  // From here on nothing takes memory.
  Close(sequence);
  reaper_.Forget(sequence->number);
  backlog_.Remove(sequence->number);
  if (sequence->offered) LaneOf(*sequence).strategy->Withdraw(sequence);
  Requests& dropped = why == Why::kCancelled ? aftermath->cancelled
                      : why == Why::kExpired ? aftermath->expired
                                             : aftermath->stopped;
  if (!sequence->in_flight && !sequence->queue.empty()) {
    Restore(sequence, sequence->queue.front().request.get());
  }
  for (QueuedRequest& queued : sequence->queue) queued.request->TakeSlot(sequence);
  dropped.splice(dropped.end(), sequence->queue);
  if (tell) {
    QueueEnd(sequence, std::move(end), now);
  } else if (!sequence->in_flight) {
    End(sequence, now, aftermath);
  }
}

void SequenceScheduler::TryDropCancelled(LiveSequence* sequence, TimePoint now,
                                         Aftermath* aftermath) noexcept try {
  Drop(sequence, Why::kCancelled, now, aftermath);
} catch (const std::bad_alloc&) {
  Offer(sequence, now);
}

void SequenceScheduler::Restore(LiveSequence* sequence, InferRequest* request) {
  if (!sequence->maker_flags.has_value() || request->is_synthetic()) return;
  request->set_flags(*std::exchange(sequence->maker_flags, std::nullopt));
  if (sequence->generated_id) request->set_correlation_id(CorrelationId());
}

void SequenceScheduler::OnRelease(InferRequest* request) {
  const TimePoint now = clock_->Now();
  // A synthetic request needs no final response.
  if (request->is_synthetic() && !request->stream()->final_sent()) request->stream()->Abandon();
  Aftermath aftermath;
  {
    MutexLock lock(&mu_);
    LiveSequence* const sequence = request->FindSlot<LiveSequence>();
    if (sequence == nullptr) return;  // it filled a gap
    request->TakeSlot(sequence);
    sequence->in_flight = false;
    sequence->taken.clear();
    Restore(sequence, request);
    if (!sequence->queue.empty()) {
      Offer(sequence, now);
    } else if (sequence->ending || shut_down_ || config_->sequence.iterative) {
      End(sequence, now, &aftermath);
    } else {
      Watch(sequence, now);
      ArmTimer();
    }
  }
  aftermath.Finish();
}

void SequenceScheduler::OnReschedule(RequestPtr owned) {
  const TimePoint now = clock_->Now();
  owned->ClearOverrideInputs();
  owned->set_queue_start_ns(ToNanos(now));
  MutexLock lock(&mu_);
  LiveSequence* const sequence = owned->FindSlot<LiveSequence>();
  sequence->in_flight = false;
  if (!sequence->maker_flags.has_value()) sequence->maker_flags = owned->flags();
  owned->set_flags(owned->flags() & ~(kRequestFlagSequenceStart | kRequestFlagSequenceEnd));
  const bool cancelled = owned->stream()->IsCancelled();
  // Back to the front of the queue, in the list element that it had.
  sequence->queue.splice(sequence->queue.begin(), sequence->taken);
  sequence->queue.front() = {std::move(owned), now};
  Lane& lane = LaneOf(*sequence);
  if (cancelled) {
    TryDropCancelled(sequence, now, &left_);
  } else if (shut_down_) {
    Drop(sequence, Why::kStopped, now, &left_);
  } else {
    return Offer(sequence, now);
  }
  lane.wake.NotifyOne();
}

void SequenceScheduler::OnCancel(InferRequest* request) {
  Aftermath aftermath;
  {
    MutexLock lock(&mu_);
    LiveSequence* const sequence = request->FindSlot<LiveSequence>();
    if (sequence == nullptr || !request->stream()->IsCancelled()) return;
    const auto is_it = [&](const QueuedRequest& queued) { return queued.request.get() == request; };
    const bool queued = sequence->taken_over == request ||
                        std::any_of(sequence->queue.begin(), sequence->queue.end(), is_it);
    if (!queued) return;  // the backend has the request, and can ask the stream
    Drop(sequence, Why::kCancelled, clock_->Now(), &aftermath);
  }
  aftermath.Finish();
}

void SequenceScheduler::CloseAdmission() {
  MutexLock lock(&mu_);
  admission_closed_ = true;
  hold_until_queued_ = hold_until_backlogged_ = 0;
  WakeAll();
}

void SequenceScheduler::Shutdown() {
  std::unique_ptr<Timer::Alarm> alarm;
  {
    MutexLock lock(&mu_);
    admission_closed_ = true;
    shut_down_ = true;
    alarm = alarm_.Stop();
    WakeAll();
  }
  alarm.reset();  // without the mutex: waits for OnTimer, which takes it
  uint64_t last = 0;
  while (StopNext(&last)) {
  }
  Aftermath aftermath;
  MutexLock lock(&mu_);
  aftermath = std::exchange(left_, {});
}

bool SequenceScheduler::StopNext(uint64_t* last) {
  Aftermath aftermath;
  MutexLock lock(&mu_);
  // Sequences in the backlog are dropped first, so that none of them is given a slot.
  const std::optional<uint64_t> waits = backlog_.front();
  const auto next = waits.has_value() ? sequences_.find(*waits) : sequences_.upper_bound(*last);
  // If no sequence is left, the clock may no longer exist: a model's last reference may outlive the
  // server.
  if (next == sequences_.end()) return false;
  if (!waits.has_value()) *last = next->first;
  Drop(next->second.get(), Why::kStopped, clock_->Now(), &aftermath);
  return true;
}

// ---- Time.

void SequenceScheduler::OnTimer() {
  Aftermath aftermath;
  const bool tell = Log::IsVerboseEnabled(1);
  std::vector<std::string> idle;  // sequences that are ended; logged without the lock
  {
    MutexLock lock(&mu_);
    alarm_.HasRung();
    if (shut_down_) return;
    const TimePoint now = clock_->Now();
    while (const std::optional<uint64_t> number = backlog_.FirstExpired(now)) {
      Drop(sequences_.find(*number)->second.get(), Why::kExpired, now, &aftermath);
    }
    while (const std::optional<uint64_t> number = reaper_.FirstIdle(now)) {
      LiveSequence* const sequence = sequences_.find(*number)->second.get();
      if (tell) idle.push_back(sequence->id.ToString());
      Requests end = MakeEnd(sequence, now);
      reaper_.Forget(*number);
      Close(sequence);
      QueueEnd(sequence, std::move(end), now);
    }
    // After a lack of memory some steps were put off, with nothing else that would come back to
    // them.
    if (now >= look_again_) {
      look_again_ = TimePoint::max();
      EmptyBacklog(now);
      for (const auto& [number, sequence] : sequences_) {
        if (!sequence->lease.has_value()) continue;
        Offer(sequence.get(), now);
        const bool idle = sequence->queue.empty() && !sequence->offered && !sequence->in_flight;
        if (idle && !sequence->ending && !reaper_.Watches(number)) Watch(sequence.get(), now);
      }
    }
    ArmTimer();
  }
  aftermath.Finish();
  for (const std::string& id : idle) {
    LOG_VERBOSE(1) << "model '" << config_->name << "': sequence " << id
                   << " has been idle for too long and is ended";
  }
}

void SequenceScheduler::ArmTimer() {
  std::optional<TimePoint> next = backlog_.earliest_deadline();
  if (const std::optional<TimePoint> idle = reaper_.next(); idle.has_value()) {
    next = std::min(*idle, next.value_or(*idle));
  }
  if (look_again_ != TimePoint::max()) next = std::min(look_again_, next.value_or(look_again_));
  alarm_.RingBy(next);
}

bool SequenceScheduler::Holding() {
  if (hold_until_queued_ == 0 && hold_until_backlogged_ == 0) return false;
  size_t queued = 0;
  for (const auto& [number, sequence] : sequences_) {
    if (!sequence->lease.has_value()) continue;
    queued += sequence->queue.size() + (sequence->taken_over != nullptr ? 1 : 0);
  }
  if (queued < hold_until_queued_ || backlog_.requests() < hold_until_backlogged_) return true;
  hold_until_queued_ = hold_until_backlogged_ = 0;
  return false;
}

void SequenceScheduler::WakeAll() {
  for (const std::unique_ptr<Lane>& lane : lanes_) lane->wake.NotifyOne();
}

// ---- Instances pull.

Batch SequenceScheduler::Source::Pull(BatchExecutor* self, std::optional<Duration>) {
  return AsPulled(scheduler_->Next(instance_, self, Step::kPull));
}

bool SequenceScheduler::Source::AwaitDue(BatchExecutor* self) {
  return std::holds_alternative<BatchDue>(scheduler_->Next(instance_, self, Step::kAwait));
}

bool SequenceScheduler::Source::HasDue() {
  return std::holds_alternative<BatchDue>(scheduler_->Next(instance_, nullptr, Step::kLook));
}

std::optional<Batch> SequenceScheduler::Source::TryPull() {
  return AsTried(scheduler_->Next(instance_, nullptr, Step::kTry));
}

std::optional<Batch> SequenceScheduler::Source::PullNow(BatchExecutor* self,
                                                        std::optional<Duration>,
                                                        std::optional<TimePoint>* wake_at) {
  NextBatch next = scheduler_->Next(instance_, self, Step::kTry);
  if (const NotDue* const not_due = std::get_if<NotDue>(&next)) *wake_at = not_due->due_at;
  return AsTried(std::move(next));
}

SequenceScheduler::Due SequenceScheduler::TakeDue(Lane* lane, Step step) {
  if (Holding()) return NotDue();
  const TimePoint now = clock_->Now();
  const BatchDecision decision = lane->strategy->Due(now);
  if (decision.take == 0) return NotDue{decision.wake_at};
  if (step == Step::kAwait || step == Step::kLook) return BatchDue();
  TakenPicks taken;
  taken.picks = lane->strategy->Take(decision.take);
  reasons_.Add(decision.why);
  taken.origin.why = decision.why;
  taken.origin.pulled_ns = ToNanos(now);
  for (const SequencePick& pick : taken.picks) {
    if (pick.sequence == nullptr) continue;
    pick.sequence->in_flight = pick.sequence->started = true;
    FlightRecord* const flight = pick.request->stream()->flight();
    if (flight == nullptr) continue;
    flight->slot = pick.sequence->left_backlog_ns;
    flight->SetSequenceSlot(pick.sequence->lease->slot);
  }
  return taken;
}

NextBatch SequenceScheduler::Next(uint32_t instance, const BatchExecutor* self, Step step) {
  const bool waits = step == Step::kPull || step == Step::kAwait;
  Lane* const lane = lanes_[instance].get();
  while (true) {
    Due due;
    Aftermath aftermath;
    {
      MutexLock lock(&mu_);
      if (self != nullptr) lane->executor = self;
      while (true) {
        if (shut_down_) return Closed();
        aftermath = std::exchange(left_, {});
        due = TakeDue(lane, step);
        const NotDue* const not_due = std::get_if<NotDue>(&due);
        if (not_due == nullptr || !aftermath.empty()) break;
        if (!waits) return *not_due;
        clock_->Wait(&lane->wake, &mu_, not_due->due_at);
      }
    }
    aftermath.Finish();
    if (std::holds_alternative<BatchDue>(due)) return BatchDue();
    if (TakenPicks* const taken = std::get_if<TakenPicks>(&due)) {
      Batch batch = Prepare(std::move(taken->picks));
      batch.origin = taken->origin;
      if (!batch.empty()) return batch;
    }
  }
}

absl::Status SequenceScheduler::PrepareRequest(const SequencePick& pick) const {
  InferRequest* const request = pick.request.get();
  SequenceControls::Values values;
  values.start = HasFlag(*request, kRequestFlagSequenceStart);
  values.end = HasFlag(*request, kRequestFlagSequenceEnd);
  values.ready = !request->is_synthetic();
  values.id = pick.sequence->id_tensor;
  controls_.Attach(values, request);
  if (pick.sequence->states == nullptr) return absl::OkStatus();
  if (request->is_synthetic()) return SequenceStates::AttachThrowaway(*config_, request);
  if (values.start) pick.sequence->states->Reset();
  return pick.sequence->states->AttachTo(request);
}

Batch SequenceScheduler::Prepare(std::vector<SequencePick> picks) {
  for (SequencePick& pick : picks) {
    if (pick.sequence != nullptr) pick.request->set_release_watcher(this);
  }
  Batch batch;
  absl::Status status;
  try {
    status = PreparePicks(&picks);
    batch.reserve(picks.size());
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  for (SequencePick& pick : picks) {
    if (status.ok()) {
      batch.push_back(std::move(pick.request));
    } else if (pick.request != nullptr) {
      Answer(std::move(pick.request), status, FailureReason::kOther);
    }
  }
  return batch;
}

absl::Status SequenceScheduler::PreparePicks(std::vector<SequencePick>* picks) {
  absl::Status status;
  const SequencePick* first = nullptr;
  for (const SequencePick& pick : *picks) {
    if (pick.sequence == nullptr) continue;
    if (first == nullptr) first = &pick;
    status.Update(PrepareRequest(pick));
  }
  std::optional<InputShapes> gap;
  for (SequencePick& pick : *picks) {
    if (pick.sequence != nullptr) continue;
    if (!gap.has_value()) gap = InputShapes::Of(*first->request);
    pick.request = MakeSyntheticRequest(first->sequence->pass.Another(), *gap, clock_->Now());
    pick.request->set_release_watcher(this);
    controls_.Attach({}, pick.request.get());
    status.Update(
        SequenceStates::AttachThrowaway(*config_, pick.request.get(), first->request.get()));
  }
  return status;
}

}  // namespace nereid
