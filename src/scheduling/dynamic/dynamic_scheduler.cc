// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/dynamic_scheduler.h"

#include <absl/status/status.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "base/caught.h"
#include "infer/infer_request.h"
#include "scheduling/adaptive/adaptive_policy.h"
#include "scheduling/dynamic/request_queue.h"
#include "scheduling/scheduler.h"

namespace nereid {

// ---- DroppedRequests.

namespace {

constexpr char kTimedOut[] = "Request timeout expired";

void AnswerAll(std::vector<RequestPtr> requests, const absl::Status& error, FailureReason reason) {
  for (RequestPtr& request : requests) {
    request->RespondError(error, reason);
    request.reset();
  }
}

}  // namespace

void DroppedRequests::Answer() noexcept {
  // Usually there are none, and then no error has to be made.
  if (!cancelled.empty()) {
    AnswerAll(std::exchange(cancelled, {}), absl::CancelledError(""), FailureReason::kCanceled);
  }
  if (!expired.empty()) {
    AnswerAll(std::exchange(expired, {}), SureStatus(absl::StatusCode::kUnavailable, kTimedOut),
              FailureReason::kRejected);
  }
}

// ---- StrategySession.

void StrategySession::Call::Make() {
  if (strategy_ == nullptr) return;
  if (end_) strategy_->End();
  if (begin_) strategy_->Begin();
  if (request_ != nullptr) joins_ = strategy_->Include(request_);
}

StrategySession::Call StrategySession::Ask(BatchFormer* queue) {
  Call call;
  if (strategy_ == nullptr || closed_) return call;
  InferRequest* const request = queue->NextToJudge();
  if (request == nullptr) return call;
  call.strategy_ = strategy_.get();
  call.begin_ = queue->judged() == 0;
  call.end_ = call.begin_ && begun_;
  call.request_ = request;
  call.forming_ = queue->forming();
  begun_ = true;
  asking_ = true;
  return call;
}

StrategySession::Call StrategySession::End() {
  Call call;
  if (!begun_) return call;
  call.strategy_ = strategy_.get();
  call.end_ = true;
  begun_ = false;
  asking_ = true;
  return call;
}

StrategySession::Call StrategySession::Next(const Call& made, BatchFormer* queue) {
  Call next;
  if (made.request_ != nullptr) {
    // If another request was queued in front meanwhile, the strategy is asked about a new batch.
    if (queue->forming() == made.forming_) queue->Judge(made.joins_);
    next = Ask(queue);
  }
  if (!next) {
    asking_ = false;
    asking_ended_.NotifyAll();
  }
  return next;
}

void StrategySession::Close(Mutex* mu) {
  closed_ = true;
  while (asking_) asking_ended_.Wait(mu);
}

// ---- IdleInstances.

std::unique_ptr<IdleInstances::Waiter> IdleInstances::NewWaiter() {
  if (spare_.empty()) {
    // Both lists get room for the new object, so that the wait takes no memory from here on.
    idle_.reserve(waiters_ + 1);
    spare_.reserve(waiters_ + 1);
    spare_.push_back(std::make_unique<Waiter>(borrower_));
    ++waiters_;
  }
  std::unique_ptr<Waiter> waiter = std::move(spare_.back());
  spare_.pop_back();
  return waiter;
}

void IdleInstances::Wait(Mutex* mu, Clock* clock, BatchExecutor* self,
                         std::optional<TimePoint> wake_at) {
  std::unique_ptr<Waiter> me = NewWaiter();
  me->executor_ = self;
  idle_.push_back(me.get());
  const bool lead = wake_at.has_value() && leader_ == nullptr;
  if (lead) {
    leader_ = me.get();
    clock->Wait(&me->wake_, mu, wake_at);
    leader_ = nullptr;
  } else {
    me->wake_.Wait(mu);
  }
  while (me->on_loan_) me->wake_.Wait(mu);
  idle_.erase(std::remove(idle_.begin(), idle_.end(), me.get()), idle_.end());
  spare_.push_back(std::move(me));
}

IdleInstances::Waiter* IdleInstances::Take() {
  auto chosen = std::find(idle_.begin(), idle_.end(), leader_);
  if (chosen == idle_.end() || (*chosen)->yields()) {
    // The thread that came last: its data is still in the CPU cache.
    const auto last =
        std::find_if(idle_.rbegin(), idle_.rend(), [](const Waiter* w) { return !w->yields(); });
    if (last == idle_.rend()) return nullptr;
    chosen = std::prev(last.base());
  }
  Waiter* const waiter = *chosen;
  idle_.erase(chosen);
  return waiter;
}

void IdleInstances::WakeAll() {
  for (Waiter* waiter : idle_) waiter->Wake();
  idle_.clear();
}

IdleInstances::Waiter* IdleInstances::Lend(const InlineTurn* deferred_to) {
  if (deferred_to != nullptr) deferred_.reserve(deferred_.size() + 1);
  for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
    Waiter* const waiter = *it;
    if (waiter->executor_ == nullptr || waiter == leader_) continue;
    if (!waiter->executor_->lendable()) continue;
    idle_.erase(std::next(it).base());
    waiter->on_loan_ = true;
    waiter->turn_ = deferred_to;
    if (deferred_to != nullptr) deferred_.push_back(waiter);
    return waiter;
  }
  return nullptr;
}

bool IdleInstances::IsLentTo(const InlineTurn* turn) const {
  return std::any_of(deferred_.begin(), deferred_.end(),
                     [&](const Waiter* loan) { return loan->turn_ == turn; });
}

void IdleInstances::BeginLoan(Waiter* loan) {
  deferred_.erase(std::remove(deferred_.begin(), deferred_.end(), loan), deferred_.end());
}

void IdleInstances::GiveBack(Waiter* loan) {
  loan->on_loan_ = false;
  loan->turn_ = nullptr;
  idle_.push_back(loan);
  if (!retired_.empty()) WakeAll();  // this instance may have to leave
}

void IdleInstances::RemoveInstance(const BatchExecutor* executor) {
  retired_.push_back(executor);
  WakeAll();
}

bool IdleInstances::Forget(const BatchExecutor* executor) {
  const auto it = std::find(retired_.begin(), retired_.end(), executor);
  if (it == retired_.end()) return false;
  retired_.erase(it);
  return true;
}

// ---- DynamicScheduler: requests arrive and leave.

DynamicScheduler::DynamicScheduler(const CompiledModel* config,
                                   std::unique_ptr<BatchStrategy> strategy, Clock* clock,
                                   Duration inline_limit, const DynamicSchedulerOptions& options)
    : clock_(clock),
      delays_(BatchPolicy(*config).delays() || options.target > Duration(0)),
      batches_(BatchPolicy(*config).max_units() > 1),
      queues_(!config->batching.enabled && strategy == nullptr),
      strategy_(std::move(strategy)),
      queue_(config, strategy_.has_strategy(), options.target),
      idle_(this),
      hold_until_queued_(config->batching.enabled ? options.hold_until_queued : 0),
      inline_(inline_limit),
      meter_(options.target > Duration(0) ? config->instances.size() : 0) {
  if (options.timer != nullptr && MayTimeOut(config->batching)) {
    alarm_.Start(options.timer, [this] { Expire(); });
  }
}

DynamicScheduler::~DynamicScheduler() { Shutdown(); }

absl::Status DynamicScheduler::Enqueue(RequestPtr* request) {
  const TimePoint now = clock_->Now();
  InlineTurn* const turn = (*request)->inline_turn();
  IdleInstances::Waiter* wake = nullptr;
  IdleInstances::Waiter* loan = nullptr;
  bool full = false;
  DroppedRequests dropped;
  {
    MutexLock lock(&mu_);
    if (shut_down_ || (admission_closed_ && !(*request)->passes_closed_admission())) {
      return StoppingError(**request);
    }
    if ((*request)->queue_start_ns() == 0) (*request)->set_queue_start_ns(ToNanos(now));
    touches_gpus_ |= (*request)->touches_gpus();
    if ((*request)->stream()->IsCancelled()) {
      dropped.cancelled.push_back(std::move(*request));
    } else if (!queue_.Push(request, now)) {
      full = true;
    } else {
      try {
        FindWorker(turn, now, &wake, &loan);
      } catch (...) {
        idle_.WakeOne();  // the request is queued already: an instance has to look at it
        throw;
      }
    }
  }
  if (wake != nullptr) wake->Wake();
  dropped.Answer();
  if (full) return RefuseFull(**request, now);
  if (loan != nullptr) {
    if (!batches_ || !turn->Defer(loan)) RunOnLoan(loan, turn);
  }
  return absl::OkStatus();
}

void DynamicScheduler::FindWorker(InlineTurn* turn, TimePoint now, IdleInstances::Waiter** wake,
                                  IdleInstances::Waiter** loan) {
  alarm_.RingBy(queue_.earliest_deadline());
  if (MayRunInline(turn, now)) {
    if (idle_.IsLentTo(turn)) return;
    *loan = idle_.Lend(batches_ ? turn : nullptr);
  }
  if (*loan == nullptr && !idle_.empty() && IsDue(now)) *wake = idle_.Take();
}

bool DynamicScheduler::IsDue(TimePoint now) {
  if (Holding()) return false;
  // A waiting leader is left asleep unless a batch is due with this request.
  return !idle_.has_leader() || strategy_.has_strategy() || queue_.Decide(now).take > 0;
}

bool DynamicScheduler::Holding() {
  if (hold_until_queued_ > 0 && queue_.size() >= hold_until_queued_) hold_until_queued_ = 0;
  return hold_until_queued_ > 0;
}

void DynamicScheduler::CloseAdmission() {
  MutexLock lock(&mu_);
  admission_closed_ = true;
  if (std::exchange(hold_until_queued_, 0) > 0) idle_.WakeAll();
}

void DynamicScheduler::OnCancel(InferRequest* request) {
  DroppedRequests dropped;
  {
    MutexLock lock(&mu_);
    // A request that is not queued here may be released meanwhile: nothing else of it may be read.
    if (!queue_.Holds(*request) || !request->stream()->IsCancelled()) return;
    queue_.MarkCancelled(request);
    // While the strategy is asked, nothing may leave the queue. The thread that asks takes the
    // cancelled requests out afterwards.
    if (strategy_.asking()) return;
    // The remaining requests may be a batch of a preferred size now.
    if (TakeDropped(&dropped)) idle_.WakeOne();
  }
  dropped.Answer();
}

bool DynamicScheduler::TakeDropped(DroppedRequests* dropped) {
  bool changed = queue_.TakeCancelled(&dropped->cancelled);
  if (!queue_.earliest_deadline().has_value()) return changed;
  changed |= queue_.Expire(clock_->Now(), &dropped->expired);
  alarm_.RingBy(queue_.earliest_deadline());
  return changed;
}

void DynamicScheduler::Expire() {
  DroppedRequests dropped;
  {
    MutexLock lock(&mu_);
    alarm_.HasRung();
    // The thread that asks the strategy drops the requests and sets the alarm again.
    if (strategy_.asking() || shut_down_) return;
    // The remaining requests may be due now, or at another time than the leader waits for.
    if (TakeDropped(&dropped)) idle_.WakeOne();
  }
  dropped.Answer();
}

void DynamicScheduler::Shutdown() {
  std::unique_ptr<Timer::Alarm> alarm;
  {
    MutexLock lock(&mu_);
    admission_closed_ = true;
    shut_down_ = true;
    strategy_.Close(&mu_);
    queue_.ForgetCancelled();
    alarm = alarm_.Stop();
    idle_.WakeAll();
  }
  alarm.reset();  // without the mutex: waits for Expire, which takes it
  // One by one, which takes no memory. No more requests are queued from now on.
  while (RequestPtr left = TakeLeft()) {
    left->RespondError(SureStatus(absl::StatusCode::kUnavailable, kStoppingText),
                       FailureReason::kOther);
  }
}

RequestPtr DynamicScheduler::TakeLeft() {
  MutexLock lock(&mu_);
  return queue_.empty() ? nullptr : queue_.PopFront();
}

void DynamicScheduler::DropStrategy() {
  StrategySession::Remains remains;
  MutexLock lock(&mu_);
  remains = strategy_.Drop();
}

// ---- DynamicScheduler: instances pull.

Batch DynamicScheduler::Pull(BatchExecutor* self, std::optional<Duration> took) {
  return AsPulled(Next(Step::kPull, self, took));
}

bool DynamicScheduler::AwaitDue(BatchExecutor* self) {
  return std::holds_alternative<BatchDue>(Next(Step::kAwait, self, std::nullopt));
}

bool DynamicScheduler::HasDue() {
  return std::holds_alternative<BatchDue>(Next(Step::kLook, nullptr, std::nullopt));
}

std::optional<Batch> DynamicScheduler::TryPull() {
  return AsTried(Next(Step::kTry, nullptr, std::nullopt));
}

std::optional<Batch> DynamicScheduler::PullNow(BatchExecutor* self, std::optional<Duration> took,
                                               std::optional<TimePoint>* wake_at) {
  NextBatch next = Next(Step::kTry, self, took);
  if (const NotDue* const not_due = std::get_if<NotDue>(&next)) *wake_at = not_due->due_at;
  return AsTried(std::move(next));
}

NextBatch DynamicScheduler::Next(Step step, BatchExecutor* self, std::optional<Duration> took) {
  const bool waits = step == Step::kPull || step == Step::kAwait;
  std::optional<NextBatch> found;
  StrategySession::Call call;  // to be made by this thread
  uint64_t nudges = 0;
  do {
    DroppedRequests dropped;
    {
      MutexLock lock(&mu_);
      if (took.has_value()) EndExecution(self, *std::exchange(took, std::nullopt));
      if (!call) {
        nudges = nudges_;
      } else if (call = strategy_.Next(call, &queue_); !call) {
        // Meanwhile others have neither taken a batch nor dropped requests, and wait.
        idle_.WakeAll();
        TakeDropped(&dropped);
      }
      while (!found.has_value() && !call && dropped.empty()) {
        NextBatch look = Look(step, self, nudges, &call, &dropped);
        const NotDue* const not_due = std::get_if<NotDue>(&look);
        if (not_due == nullptr) {
          found = std::move(look);
        } else if (!call && dropped.empty()) {
          if (waits) {
            idle_.Wait(&mu_, clock_, self, not_due->due_at);
          } else {
            found = std::move(look);
          }
        }
      }
    }
    call.Make();
    dropped.Answer();
  } while (!found.has_value() || call);
  return *std::move(found);
}

NextBatch DynamicScheduler::Look(Step step, BatchExecutor* self, uint64_t nudges,
                                 StrategySession::Call* call, DroppedRequests* dropped) {
  if (shut_down_) return Closed();
  if (idle_.TakeRetired(self)) {
    WakeIfQueued();  // this thread may have been woken for a batch: passes it on
    return Closed();
  }
  const bool yields = self != nullptr && self->yields();
  if (!strategy_.asking()) {
    if (!yields && strategy_.has_strategy() && !Holding()) *call = strategy_.Ask(&queue_);
    if (*call) return NotDue();
    TakeDropped(dropped);
  }
  if (!dropped->empty()) return NotDue();
  const bool nudged = nudges_ != nudges;
  if (yields) {
    WakeIfQueued();  // this thread may have been woken for a batch: passes it on
    if (step == Step::kAwait && nudged) return BatchDue();
    return NotDue();
  }
  if (step == Step::kAwait || step == Step::kLook) {
    const BatchDecision decision = Decide(clock_->Now());
    if (decision.take > 0 || nudged) return BatchDue();
    return NotDue{decision.wake_at};
  }
  const size_t most = queues_ && self != nullptr ? self->most_separate() : 1;
  NextBatch next = TryTake(BatchReason::kIdleInstance, most);
  if (const Batch* const batch = std::get_if<Batch>(&next)) {
    BeginExecution(self, *batch);
    // The remaining requests may be a batch for another idle instance, or need a new leader.
    WakeIfQueued();
    *call = strategy_.End();
  }
  return next;
}

BatchDecision DynamicScheduler::Decide(TimePoint now) {
  if (strategy_.asking() || shut_down_ || Holding()) return {};
  BatchDecision decision = queue_.Decide(now);
  // With a strategy, a request that may not join is one that the strategy has left out.
  if (strategy_.has_strategy() && decision.why == BatchReason::kShapeChange) {
    decision.why = BatchReason::kStrategy;
  }
  return decision;
}

NextBatch DynamicScheduler::TryTake(BatchReason idle, size_t most) {
  const TimePoint now = clock_->Now();
  const BatchDecision decision = Decide(now);
  if (decision.take == 0) return NotDue{decision.wake_at};
  const size_t take = most > 1 ? std::min(most, queue_.size()) : decision.take;
  Batch batch = queue_.Take(take);
  batch.origin.separate = take > decision.take;
  batch.origin.why = decision.why == BatchReason::kIdleInstance ? idle : decision.why;
  batch.origin.pulled_ns = ToNanos(now);
  reasons_.Add(batch.origin.why, batch.origin.separate ? take : 1);
  return batch;
}

void DynamicScheduler::BeginExecution(const BatchExecutor* self, const Batch& batch) {
  if (queue_.adaptive() != nullptr && self != nullptr) meter_.Begin(self, batch, clock_->Now());
}

void DynamicScheduler::EndExecution(const BatchExecutor* self, Duration took) {
  if (inline_.enabled()) inline_.Record(took);
  if (queue_.adaptive() == nullptr) return;
  if (const auto ended = meter_.End(self, clock_->Now())) {
    queue_.OnExecuted(ended->units, ended->took);
  }
}

void DynamicScheduler::DescribeMetrics(MetricSink* sink) const {
  Scheduler::DescribeMetrics(sink);
  BatchReasonCounts reasons;
  {
    MutexLock lock(&mu_);
    reasons = reasons_;
  }
  reasons.DescribeMetrics(sink);
  if (const std::optional<BatchPlan> plan = adaptive_plan()) nereid::DescribeMetrics(*plan, sink);
}

std::optional<BatchPlan> DynamicScheduler::adaptive_plan() const {
  MutexLock lock(&mu_);
  if (queue_.adaptive() == nullptr) return std::nullopt;
  return queue_.adaptive()->plan();
}

// ---- DynamicScheduler: I/O threads execute.

bool DynamicScheduler::MayRunInline(const InlineTurn* turn, TimePoint now) const {
  return turn != nullptr && inline_.enabled() && !touches_gpus_ && !strategy_.has_strategy() &&
         !delays_ && hold_until_queued_ == 0 && turn->HasTimeLeft() && inline_.Allows(now);
}

void DynamicScheduler::RunOnLoan(IdleInstances::Waiter* loan, InlineTurn* turn) noexcept {
  BatchExecutor* const instance = loan->executor();
  std::optional<Duration> took;
  while (true) {
    DroppedRequests dropped;
    std::optional<Batch> batch = NextOnLoan(loan, turn, took, &dropped);
    dropped.Answer();
    if (!batch.has_value()) return;
    took = instance->Execute(*std::move(batch));
    turn->Spend(*took);
    inline_executions_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::optional<Batch> DynamicScheduler::NextOnLoan(IdleInstances::Waiter* loan, InlineTurn* turn,
                                                  std::optional<Duration> took,
                                                  DroppedRequests* dropped) noexcept {
  MutexLock lock(&mu_);
  if (took.has_value()) {
    inline_.Record(*took);
    if (inline_.IsOverrun(*took) && !turn->PreemptedLately()) inline_.Pause(clock_->Now());
  } else {
    idle_.BeginLoan(loan);
  }
  try {
    // Whether the instance is lendable may have changed since it was lent.
    if ((!took.has_value() || turn->HasTimeLeft()) && !touches_gpus_ &&
        loan->executor()->lendable()) {
      TakeDropped(dropped);
      NextBatch next = TryTake(BatchReason::kEndOfTurn, /*most=*/1);
      if (Batch* const batch = std::get_if<Batch>(&next)) {
        batch->origin.by_caller = true;
        return std::move(*batch);
      }
    }
  } catch (const std::bad_alloc&) {
    // The queued requests are left to the instance's own thread, which tries again.
  }
  idle_.GiveBack(loan);
  if (shut_down_) {
    idle_.WakeAll();
  } else {
    WakeIfQueued();
  }
  return std::nullopt;
}

}  // namespace nereid
