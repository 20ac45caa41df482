#include "scheduling/dynamic/dynamic_scheduler.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/caught.h"
#include "infer/infer_request.h"
#include "scheduling/queue/queue_policy.h"

namespace nereid {
namespace {

constexpr absl::string_view kStopping =
    "Server is stopping, scheduler for model has stopped accepting new inference requests";
constexpr char kTimedOut[] = "Request timeout expired";

void AnswerAll(Batch requests, const absl::Status& error, FailureReason reason) {
  for (RequestPtr& request : requests) {
    request->RespondError(error, reason);
    request.reset();
  }
}

// The error of a request that finds its level of the queue full; counts it.
absl::Status Refuse(const InferRequest& request, TimePoint now) {
  request.model()->statistics().RecordFailure(ModelStatistics::kModelShard,
                                              FailureReason::kRejected,
                                              ToNanos(now) - request.request_start_ns);
  return absl::UnavailableError(absl::StrCat(request.LogPrefix(), "Exceeds maximum queue size"));
}

}  // namespace

void DynamicScheduler::Dropped::Answer() noexcept {
  // As a rule there are none: no error is made for nobody.
  if (!cancelled.empty()) {
    AnswerAll(std::exchange(cancelled, {}), absl::CancelledError(""), FailureReason::kCanceled);
  }
  if (!expired.empty()) {
    AnswerAll(std::exchange(expired, {}), SureStatus(absl::StatusCode::kUnavailable, kTimedOut),
              FailureReason::kRejected);
  }
}

DynamicScheduler::DynamicScheduler(const CompiledModel* config,
                                   std::unique_ptr<BatchStrategy> strategy, Clock* clock,
                                   Duration inline_limit, const DynamicSchedulerOptions& options)
    : clock_(clock),
      delays_(BatchPolicy(*config).delays() || options.target > Duration(0)),
      batches_(BatchPolicy(*config).max_units() > 1),
      strategy_(std::move(strategy)),
      queue_(config, strategy_ != nullptr, options.target),
      hold_until_queued_(config->batching.enabled ? options.hold_until_queued : 0),
      inline_(inline_limit) {
  if (queue_.adaptive() != nullptr) executions_.reserve(config->instances.size());
  if (options.timer != nullptr && MayTimeOut(config->batching)) {
    alarm_ = std::make_unique<Timer::Alarm>(options.timer, [this] { Expire(); });
  }
}

DynamicScheduler::~DynamicScheduler() { Shutdown(); }

absl::Status DynamicScheduler::Enqueue(RequestPtr* request) {
  const TimePoint now = clock_->Now();
  InlineTurn* const turn = (*request)->inline_turn;
  Waiter* wake = nullptr;
  Waiter* loan = nullptr;
  bool full = false;
  Dropped dropped;
  {
    MutexLock lock(&mu_);
    if (shut_down_ || (admission_closed_ && !(*request)->passes_closed_admission)) {
      return absl::UnavailableError(absl::StrCat((*request)->LogPrefix(), kStopping));
    }
    if ((*request)->queue_start_ns == 0) (*request)->queue_start_ns = ToNanos(now);
    if ((*request)->stream()->IsCancelled()) {
      dropped.cancelled.push_back(std::move(*request));
    } else if (!queue_.Push(request, now)) {
      full = true;
    } else {
      try {
        FindWorker(turn, now, &wake, &loan);
      } catch (...) {
        WakeOne();  // the request is in the queue: somebody has to look
        throw;
      }
    }
  }
  if (wake != nullptr) wake->wake.NotifyOne();
  dropped.Answer();
  if (full) return Refuse(**request, now);
  if (loan != nullptr) {
    if (!batches_ || !turn->Defer(loan)) RunOnLoan(loan, turn);
  }
  return absl::OkStatus();
}

void DynamicScheduler::FindWorker(InlineTurn* turn, TimePoint now, Waiter** wake, Waiter** loan) {
  if (alarm_ != nullptr) ArmTimer();
  if (MayRunInline(turn, now)) {
    if (IsDeferredTo(turn)) return;
    if (batches_) deferred_.reserve(deferred_.size() + 1);
    *loan = Borrow();
  }
  if (*loan == nullptr && !idle_.empty() && IsDue(now)) *wake = TakeIdle();
  if (*loan != nullptr && batches_) {
    (*loan)->turn = turn;
    deferred_.push_back(*loan);
  }
}

bool DynamicScheduler::IsDue(TimePoint now) {
  if (Holding()) return false;
  // A waiting leader is left asleep unless this request completes its batch.
  return leader_ == nullptr || strategy_ != nullptr || queue_.Decide(now).take > 0;
}

bool DynamicScheduler::Holding() {
  if (hold_until_queued_ > 0 && queue_.size() >= hold_until_queued_) hold_until_queued_ = 0;
  return hold_until_queued_ > 0;
}

void DynamicScheduler::CloseAdmission() {
  MutexLock lock(&mu_);
  admission_closed_ = true;
  if (std::exchange(hold_until_queued_, 0) > 0) WakeAll();
}

void DynamicScheduler::OnCancel(InferRequest* request) {
  Dropped dropped;
  {
    MutexLock lock(&mu_);
    if (request->queue_entry == nullptr || !request->stream()->IsCancelled()) return;
    to_cancel_.push_back(request);
    // While a strategy looks at the queue nothing may leave it; the one who asks looks afterwards.
    if (asking_) return;
    // What is left may be a batch of a preferred size now.
    if (TakeDropped(&dropped)) WakeOne();
  }
  dropped.Answer();
}

bool DynamicScheduler::TakeDropped(Dropped* dropped) {
  bool changed = false;
  // Under the mutex nothing that is removed may be let go of for want of memory.
  dropped->cancelled.reserve(dropped->cancelled.size() + to_cancel_.size());
  for (InferRequest* request : to_cancel_) {
    // Cancelled twice, it has gone already.
    if (RequestPtr cancelled = queue_.Remove(request)) {
      dropped->cancelled.push_back(std::move(cancelled));
      changed = true;
    }
  }
  to_cancel_.clear();
  if (!queue_.earliest_deadline().has_value()) return changed;
  changed |= queue_.Expire(clock_->Now(), &dropped->expired);
  ArmTimer();
  return changed;
}

void DynamicScheduler::Expire() {
  Dropped dropped;
  {
    MutexLock lock(&mu_);
    armed_for_ = TimePoint::max();
    if (asking_ || shut_down_) return;  // the one who asks looks, and arms again
    // What is left may be due now, or waits for another time than the leader does.
    if (TakeDropped(&dropped)) WakeOne();
  }
  dropped.Answer();
}

void DynamicScheduler::ArmTimer() {
  if (alarm_ == nullptr) return;
  const std::optional<TimePoint> deadline = queue_.earliest_deadline();
  // When a deadline goes before it has come the timer calls for nothing, once.
  if (!deadline.has_value() || *deadline >= armed_for_) return;
  alarm_->Set(*deadline);
  armed_for_ = *deadline;
}

void DynamicScheduler::Shutdown() {
  std::unique_ptr<Timer::Alarm> alarm;
  {
    MutexLock lock(&mu_);
    admission_closed_ = true;
    shut_down_ = true;
    while (asking_) asking_ended_.Wait(&mu_);
    to_cancel_.clear();
    alarm = std::move(alarm_);
    WakeAll();
  }
  alarm.reset();  // outside the mutex, which its call takes
  // One by one, which takes no memory; nothing is queued any more.
  while (RequestPtr left = TakeLeft()) {
    left->RespondError(SureStatus(absl::StatusCode::kUnavailable, kStopping),
                       FailureReason::kOther);
  }
}

RequestPtr DynamicScheduler::TakeLeft() {
  MutexLock lock(&mu_);
  return queue_.empty() ? nullptr : queue_.PopFront();
}

void DynamicScheduler::DropStrategy() {
  bool begun;
  {
    MutexLock lock(&mu_);
    begun = std::exchange(begun_, false);
  }
  if (begun) strategy_->End();
  strategy_.reset();
}

Batch DynamicScheduler::Pull(BatchExecutor* self, std::optional<Duration> took) {
  return *Next(Step::kPull, self, took);
}

bool DynamicScheduler::AwaitDue() { return !Next(Step::kAwait, nullptr, std::nullopt).has_value(); }

bool DynamicScheduler::HasDue() { return !Next(Step::kLook, nullptr, std::nullopt).has_value(); }

std::optional<Batch> DynamicScheduler::TryPull() { return Next(Step::kTry, nullptr, std::nullopt); }

void DynamicScheduler::Retire(const BatchExecutor* executor) {
  MutexLock lock(&mu_);
  retired_.push_back(executor);
  WakeAll();
}

void DynamicScheduler::Nudge() {
  MutexLock lock(&mu_);
  ++nudges_;
  WakeAll();
}

bool DynamicScheduler::TakeRetired(const BatchExecutor* executor) {
  if (retired_.empty() || executor == nullptr) return false;
  const auto it = std::find(retired_.begin(), retired_.end(), executor);
  if (it == retired_.end()) return false;
  retired_.erase(it);
  // It may have been woken for work that is another's now.
  if (!queue_.empty()) WakeOne();
  return true;
}

void DynamicScheduler::PassOn() {
  MutexLock lock(&mu_);
  if (!queue_.empty()) WakeOne();
}

std::optional<Batch> DynamicScheduler::Next(Step step, BatchExecutor* self,
                                            std::optional<Duration> took) {
  while (true) {
    std::optional<Batch> batch;
    Dropped dropped;
    bool due = false;
    {
      MutexLock lock(&mu_);
      if (took.has_value()) {
        if (inline_.enabled()) inline_.Record(*took);
        EndExecution(self);
        took.reset();
      }
      const uint64_t nudges = nudges_;
      while (true) {
        if (shut_down_ || TakeRetired(self)) return Batch();
        if (strategy_ != nullptr && !asking_ && !Holding()) AskStrategy();
        if (!asking_) TakeDropped(&dropped);
        if (!dropped.empty()) break;
        std::optional<TimePoint> wake_at;
        if (step == Step::kAwait || step == Step::kLook) {
          due = CountDue(&wake_at) > 0 || nudges_ != nudges;
        } else {
          batch = TryTake(&wake_at);
        }
        if (due || batch.has_value()) break;
        if (step == Step::kLook) return Batch();
        if (step == Step::kTry) return std::nullopt;
        Wait(self, wake_at);
      }
      if (batch.has_value()) BeginExecution(self, *batch);
      // What is left may be a batch for another idle instance, or needs a new leader.
      if (batch.has_value() && !queue_.empty()) WakeOne();
      if (batch.has_value() && begun_) {
        EndStrategy();
        TakeDropped(&dropped);
      }
    }
    dropped.Answer();
    if (due || batch.has_value()) return batch;
  }
}

size_t DynamicScheduler::CountDue(std::optional<TimePoint>* wake_at) {
  if (asking_ || shut_down_ || Holding()) return 0;
  const BatchDecision decision = queue_.Decide(clock_->Now());
  if (decision.take == 0) *wake_at = decision.wake_at;
  return decision.take;
}

std::optional<Batch> DynamicScheduler::TryTake(std::optional<TimePoint>* wake_at) {
  const size_t count = CountDue(wake_at);
  if (count == 0) return std::nullopt;
  return queue_.Take(count);
}

void DynamicScheduler::BeginExecution(const BatchExecutor* self, const Batch& batch) {
  if (queue_.adaptive() == nullptr || self == nullptr) return;
  auto mine = std::find_if(executions_.begin(), executions_.end(),
                           [&](const Execution& one) { return one.by == self; });
  if (mine == executions_.end()) try {
      mine = executions_.insert(mine, Execution{self, 0, TimePoint()});
    } catch (const std::bad_alloc&) {
      return;  // this execution teaches nothing, but the batch is not lost
    }
  mine->units = 0;
  for (const RequestPtr& request : batch) mine->units += request->units_in_batch();
  mine->begun = clock_->Now();
}

void DynamicScheduler::EndExecution(const BatchExecutor* self) {
  for (const Execution& one : executions_) {
    // Sending the answers counts: the next batch had to wait for that too.
    if (one.by == self) queue_.OnExecuted(one.units, clock_->Now() - one.begun);
  }
}

std::optional<BatchPlan> DynamicScheduler::adaptive_plan() const {
  MutexLock lock(&mu_);
  if (queue_.adaptive() == nullptr) return std::nullopt;
  return queue_.adaptive()->plan();
}

void DynamicScheduler::AskStrategy() {
  bool asked = false;
  while (!shut_down_) {
    InferRequest* const request = queue_.NextToJudge();
    if (request == nullptr) break;
    asked = true;
    asking_ = true;
    const bool begin = queue_.judged() == 0;
    const bool end_first = begin && begun_;
    const uint64_t forming = queue_.forming();
    begun_ = true;
    mu_.Unlock();
    if (end_first) strategy_->End();
    if (begin) strategy_->Begin();
    const bool include = strategy_->Include(request);
    mu_.Lock();
    // Otherwise another request has come in front: it is asked about a new batch.
    if (queue_.forming() == forming) queue_.Judge(include);
  }
  if (!asked) return;
  asking_ = false;
  // Whoever waited for the asking to end.
  asking_ended_.NotifyAll();
  WakeAll();
}

void DynamicScheduler::EndStrategy() {
  asking_ = true;
  begun_ = false;
  mu_.Unlock();
  strategy_->End();
  mu_.Lock();
  asking_ = false;
  // Whoever waited for the asking to end.
  asking_ended_.NotifyAll();
  WakeAll();
}

void DynamicScheduler::Wait(BatchExecutor* self, std::optional<TimePoint> wake_at) {
  if (spare_waiters_.empty()) {
    // With a place for it wherever it may go: from here on the wait takes no memory.
    idle_.reserve(waiters_ + 1);
    spare_waiters_.reserve(waiters_ + 1);
    spare_waiters_.push_back(std::make_unique<Waiter>(this));
    ++waiters_;
  }
  std::unique_ptr<Waiter> me = std::move(spare_waiters_.back());
  spare_waiters_.pop_back();
  me->executor = self;
  idle_.push_back(me.get());
  const bool lead = wake_at.has_value() && leader_ == nullptr;
  if (lead) {
    leader_ = me.get();
    clock_->Wait(&me->wake, &mu_, wake_at);
    leader_ = nullptr;
  } else {
    me->wake.Wait(&mu_);
  }
  while (me->on_loan) me->wake.Wait(&mu_);
  idle_.erase(std::remove(idle_.begin(), idle_.end(), me.get()), idle_.end());
  spare_waiters_.push_back(std::move(me));
}

DynamicScheduler::Waiter* DynamicScheduler::TakeIdle() {
  if (idle_.empty()) return nullptr;
  auto chosen = std::find(idle_.begin(), idle_.end(), leader_);
  // Otherwise the one that waits for the shortest time: what it needs is still in the cache.
  if (chosen == idle_.end()) chosen = std::prev(idle_.end());
  Waiter* const waiter = *chosen;
  idle_.erase(chosen);
  return waiter;
}

void DynamicScheduler::WakeOne() {
  if (Waiter* const waiter = TakeIdle()) waiter->wake.NotifyOne();
}

void DynamicScheduler::WakeAll() {
  for (Waiter* waiter : idle_) waiter->wake.NotifyOne();
  idle_.clear();
}

bool DynamicScheduler::MayRunInline(const InlineTurn* turn, TimePoint now) const {
  return turn != nullptr && inline_.enabled() && strategy_ == nullptr && !delays_ &&
         hold_until_queued_ == 0 && turn->HasTimeLeft() && inline_.Allows(now);
}

bool DynamicScheduler::IsDeferredTo(const InlineTurn* turn) const {
  return std::any_of(deferred_.begin(), deferred_.end(),
                     [&](const Waiter* loan) { return loan->turn == turn; });
}

DynamicScheduler::Waiter* DynamicScheduler::Borrow() {
  for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
    Waiter* const waiter = *it;
    if (waiter->executor == nullptr || waiter == leader_) continue;
    idle_.erase(std::next(it).base());
    waiter->on_loan = true;
    return waiter;
  }
  return nullptr;
}

void DynamicScheduler::RunOnLoan(Waiter* loan, InlineTurn* turn) noexcept {
  MutexLock lock(&mu_);
  deferred_.erase(std::remove(deferred_.begin(), deferred_.end(), loan), deferred_.end());
  try {
    bool go_on = true;
    while (go_on) {
      AnswerDropped();
      std::optional<TimePoint> wake_at;
      std::optional<Batch> batch = TryTake(&wake_at);
      if (!batch.has_value()) break;
      mu_.Unlock();
      // Without the mutex nothing may throw: what catches below holds it.
      const Duration took = [&]() noexcept { return loan->executor->Execute(*std::move(batch)); }();
      turn->Spend(took);
      inline_executions_.fetch_add(1, std::memory_order_relaxed);
      mu_.Lock();
      inline_.Record(took);
      if (inline_.IsOverrun(took) && !turn->PreemptedLately()) inline_.Pause(clock_->Now());
      go_on = turn->HasTimeLeft();
    }
  } catch (const std::bad_alloc&) {
    // What is queued is left to the instance's own thread, which tries again.
  }
  GiveBack(loan);
}

void DynamicScheduler::AnswerDropped() {
  Dropped dropped;
  TakeDropped(&dropped);
  if (dropped.empty()) return;
  mu_.Unlock();
  dropped.Answer();
  mu_.Lock();
}

void DynamicScheduler::GiveBack(Waiter* loan) {
  loan->on_loan = false;
  loan->turn = nullptr;
  idle_.push_back(loan);
  if (!retired_.empty()) {
    WakeAll();  // it may be this one
  } else if (!queue_.empty() || shut_down_) {
    WakeOne();
  }
}

}  // namespace nereid
