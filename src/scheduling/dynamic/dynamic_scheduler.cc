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

StrategySession::StrategySession(std::unique_ptr<BatchStrategy> strategy)
    : strategy_(std::move(strategy)) {}

StrategySession::~StrategySession() = default;

bool StrategySession::Ask(Mutex* mu, BatchFormer* queue) {
  bool asked = false;
  while (!closed_) {
    InferRequest* const request = queue->NextToJudge();
    if (request == nullptr) break;
    asked = true;
    asking_ = true;
    const bool begin = queue->judged() == 0;
    const bool end_first = begin && begun_;
    const uint64_t forming = queue->forming();
    begun_ = true;
    mu->Unlock();
    if (end_first) strategy_->End();
    if (begin) strategy_->Begin();
    const bool include = strategy_->Include(request);
    mu->Lock();
    // If another request was queued in front meanwhile, the strategy is asked about a new batch.
    if (queue->forming() == forming) queue->Judge(include);
  }
  if (asked) StopAsking();
  return asked;
}

bool StrategySession::End(Mutex* mu) {
  if (!begun_) return false;
  asking_ = true;
  begun_ = false;
  mu->Unlock();
  strategy_->End();
  mu->Lock();
  StopAsking();
  return true;
}

void StrategySession::StopAsking() {
  asking_ = false;
  asking_ended_.NotifyAll();
}

void StrategySession::Close(Mutex* mu) {
  closed_ = true;
  while (asking_) asking_ended_.Wait(mu);
}

void StrategySession::Drop(Mutex* mu) {
  std::unique_ptr<BatchStrategy> dropped = std::move(strategy_);
  const bool begun = std::exchange(begun_, false);
  mu->Unlock();
  if (begun) dropped->End();
  dropped.reset();
  mu->Lock();
}

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

Batch DynamicScheduler::Pull(BatchExecutor* self, std::optional<Duration> took) {
  return *Next(Step::kPull, self, took);
}

bool DynamicScheduler::AwaitDue(BatchExecutor* self) {
  return !Next(Step::kAwait, self, std::nullopt).has_value();
}

bool DynamicScheduler::HasDue() { return !Next(Step::kLook, nullptr, std::nullopt).has_value(); }

std::optional<Batch> DynamicScheduler::TryPull() { return Next(Step::kTry, nullptr, std::nullopt); }

std::optional<Batch> DynamicScheduler::PullNow(BatchExecutor* self, std::optional<Duration> took,
                                               std::optional<TimePoint>* wake_at) {
  return Next(Step::kTry, self, took, wake_at);
}

std::optional<Batch> DynamicScheduler::Next(Step step, BatchExecutor* self,
                                            std::optional<Duration> took,
                                            std::optional<TimePoint>* ask_again) {
  while (true) {
    std::optional<Batch> batch;
    DroppedRequests dropped;
    bool due = false;
    {
      MutexLock lock(&mu_);
      if (took.has_value()) {
        EndExecution(self, *took);
        took.reset();
      }
      const uint64_t nudges = nudges_;
      while (true) {
        if (shut_down_) return Batch();
        if (idle_.TakeRetired(self)) {
          WakeIfQueued();  // this thread may have been woken for a batch: passes it on
          return Batch();
        }
        const bool yields = self != nullptr && self->yields();
        if (!yields) AskStrategy();
        if (!strategy_.asking()) TakeDropped(&dropped);
        if (!dropped.empty()) break;
        std::optional<TimePoint> wake_at;
        if (yields) {
          WakeIfQueued();  // this thread may have been woken for a batch: passes it on
          due = step == Step::kAwait && nudges_ != nudges;
        } else if (step == Step::kAwait || step == Step::kLook) {
          const BatchDecision decision = Decide(clock_->Now());
          wake_at = decision.wake_at;
          due = decision.take > 0 || nudges_ != nudges;
        } else {
          const size_t most = queues_ && self != nullptr ? self->most_separate() : 1;
          batch = TryTake(&wake_at, BatchReason::kIdleInstance, most);
        }
        if (due || batch.has_value()) break;
        if (step == Step::kLook) return Batch();
        if (step == Step::kTry) {
          if (ask_again != nullptr) *ask_again = wake_at;
          return std::nullopt;
        }
        idle_.Wait(&mu_, clock_, self, wake_at);
      }
      if (batch.has_value()) {
        BeginExecution(self, *batch);
        // The remaining requests may be a batch for another idle instance, or need a new leader.
        WakeIfQueued();
        if (strategy_.End(&mu_)) {
          idle_.WakeAll();
          TakeDropped(&dropped);
        }
      }
    }
    dropped.Answer();
    if (due || batch.has_value()) return batch;
  }
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

std::optional<Batch> DynamicScheduler::TryTake(std::optional<TimePoint>* wake_at, BatchReason idle,
                                               size_t most) {
  const TimePoint now = clock_->Now();
  const BatchDecision decision = Decide(now);
  *wake_at = decision.wake_at;
  if (decision.take == 0) return std::nullopt;
  const size_t take = most > 1 ? std::min(most, queue_.size()) : decision.take;
  std::optional<Batch> batch = queue_.Take(take);
  batch->origin.separate = take > decision.take;
  batch->origin.why = decision.why == BatchReason::kIdleInstance ? idle : decision.why;
  batch->origin.pulled_ns = ToNanos(now);
  reasons_.Add(batch->origin.why, batch->origin.separate ? take : 1);
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

void DynamicScheduler::AskStrategy() {
  if (!strategy_.has_strategy() || strategy_.asking() || Holding()) return;
  if (strategy_.Ask(&mu_, &queue_)) idle_.WakeAll();
}

bool DynamicScheduler::MayRunInline(const InlineTurn* turn, TimePoint now) const {
  return turn != nullptr && inline_.enabled() && !strategy_.has_strategy() && !delays_ &&
         hold_until_queued_ == 0 && turn->HasTimeLeft() && inline_.Allows(now);
}

void DynamicScheduler::RunOnLoan(IdleInstances::Waiter* loan, InlineTurn* turn) noexcept {
  MutexLock lock(&mu_);
  idle_.BeginLoan(loan);
  try {
    bool go_on = loan->executor()->lendable();  // may have changed since the instance was lent
    while (go_on) {
      AnswerDropped();
      std::optional<TimePoint> wake_at;
      std::optional<Batch> batch = TryTake(&wake_at, BatchReason::kEndOfTurn);
      if (!batch.has_value()) break;
      batch->origin.by_caller = true;
      mu_.Unlock();
      // Nothing may throw without the mutex: the code after the handler below needs the mutex.
      const Duration took = [&]() noexcept {
        return loan->executor()->Execute(*std::move(batch));
      }();
      turn->Spend(took);
      inline_executions_.fetch_add(1, std::memory_order_relaxed);
      mu_.Lock();
      inline_.Record(took);
      if (inline_.IsOverrun(took) && !turn->PreemptedLately()) inline_.Pause(clock_->Now());
      go_on = turn->HasTimeLeft() && loan->executor()->lendable();
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
}

void DynamicScheduler::AnswerDropped() {
  DroppedRequests dropped;
  TakeDropped(&dropped);
  if (dropped.empty()) return;
  mu_.Unlock();
  dropped.Answer();
  mu_.Lock();
}

}  // namespace nereid
