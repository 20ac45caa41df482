#include "scheduling/dynamic/dynamic_scheduler.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "infer/infer_request.h"
#include "scheduling/dynamic/compatibility.h"

namespace nereid {
namespace {

constexpr absl::string_view kStopping =
    "Server is stopping, scheduler for model has stopped accepting new inference requests";

void AnswerAll(Batch requests, const absl::Status& error, FailureReason reason) {
  for (RequestPtr& request : requests) {
    request->RespondError(error, reason);
    request.reset();
  }
}

}  // namespace

// The queue as the policy sees it: only what the strategy, if any, has judged.
class DynamicScheduler::View final : public QueueView {
 public:
  View(const CompiledModel& config, const std::deque<Entry>& queue, size_t size)
      : config_(config), queue_(queue), size_(size) {}
  size_t size() const override { return size_; }
  uint32_t units(size_t index) const override { return queue_[index].request->units_in_batch(); }
  TimePoint queued_at(size_t index) const override { return queue_[index].queued_at; }
  bool Compatible(size_t a, size_t b) const override {
    return !queue_[b].refused && MayShareBatch(config_, *queue_[a].request, *queue_[b].request);
  }

 private:
  const CompiledModel& config_;
  const std::deque<Entry>& queue_;
  const size_t size_;
};

DynamicScheduler::DynamicScheduler(const CompiledModel* config,
                                   std::unique_ptr<BatchStrategy> strategy, Clock* clock,
                                   Duration inline_limit)
    : config_(config),
      clock_(clock),
      policy_(*config),
      batches_(policy_.max_units() > 1),
      strategy_(std::move(strategy)),
      inline_(inline_limit) {}

DynamicScheduler::~DynamicScheduler() { Shutdown(); }

absl::Status DynamicScheduler::Enqueue(RequestPtr* request) {
  const TimePoint now = clock_->Now();
  InlineTurn* const turn = (*request)->inline_turn;
  Waiter* wake = nullptr;
  Waiter* loan = nullptr;
  {
    MutexLock lock(&mu_);
    if (admission_closed_) {
      return absl::UnavailableError(absl::StrCat((*request)->LogPrefix(), kStopping));
    }
    if ((*request)->queue_start_ns == 0) (*request)->queue_start_ns = ToNanos(now);
    queue_.push_back({std::move(*request), now});
    if (MayRunInline(turn, now)) {
      if (IsDeferredTo(turn)) return absl::OkStatus();
      loan = Borrow();
    }
    if (loan == nullptr && !idle_.empty()) {
      // A waiting leader is left asleep unless this request completes its batch.
      bool due = true;
      if (leader_ != nullptr && strategy_ == nullptr) {
        const View view(*config_, queue_, queue_.size());
        due = policy_.Decide(view, now, &cursor_).take > 0;
      }
      if (due) wake = TakeIdle();
    }
    if (loan != nullptr && batches_) {
      loan->turn = turn;
      deferred_.push_back(loan);
    }
  }
  if (wake != nullptr) wake->wake.NotifyOne();
  if (loan != nullptr) {
    if (batches_) {
      turn->Defer(loan);
    } else {
      RunOnLoan(loan, turn);
    }
  }
  return absl::OkStatus();
}

void DynamicScheduler::CloseAdmission() {
  MutexLock lock(&mu_);
  admission_closed_ = true;
}

void DynamicScheduler::OnCancel() {
  Batch cancelled;
  {
    MutexLock lock(&mu_);
    look_for_cancelled_ = true;
    // While a strategy looks at the queue nothing may leave it; the one who asks looks afterwards.
    if (!asking_) cancelled = TakeCancelled();
    // What is left may be a batch of a preferred size now.
    if (!cancelled.empty()) WakeOne();
  }
  AnswerAll(std::move(cancelled), absl::CancelledError(""), FailureReason::kCanceled);
}

void DynamicScheduler::Shutdown() {
  Batch left;
  {
    MutexLock lock(&mu_);
    admission_closed_ = true;
    shut_down_ = true;
    while (asking_) asking_ended_.Wait(&mu_);
    for (Entry& entry : queue_) left.push_back(std::move(entry.request));
    queue_.clear();
    ResetCursor();
    WakeAll();
  }
  AnswerAll(std::move(left), absl::UnavailableError(kStopping), FailureReason::kOther);
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
  std::optional<Batch> batch;
  while (!batch.has_value()) {
    Batch cancelled;
    {
      MutexLock lock(&mu_);
      if (took.has_value() && inline_.enabled()) inline_.Record(*took);
      took.reset();
      while (true) {
        if (shut_down_) return {};
        if (strategy_ != nullptr && !asking_ && asked_ < queue_.size()) AskStrategy();
        if (look_for_cancelled_ && !asking_) {
          cancelled = TakeCancelled();
          if (!cancelled.empty()) break;
        }
        std::optional<TimePoint> wake_at;
        batch = TryTake(&wake_at);
        if (batch.has_value()) break;
        Wait(self, wake_at);
      }
      // What is left may be a batch for another idle instance, or needs a new leader.
      if (batch.has_value() && !queue_.empty()) WakeOne();
      if (batch.has_value() && begun_) {
        EndStrategy();
        if (look_for_cancelled_) cancelled = TakeCancelled();
      }
    }
    AnswerAll(std::move(cancelled), absl::CancelledError(""), FailureReason::kCanceled);
  }
  return *std::move(batch);
}

std::optional<Batch> DynamicScheduler::TryTake(std::optional<TimePoint>* wake_at) {
  if (asking_ || shut_down_) return std::nullopt;
  const View view(*config_, queue_, strategy_ == nullptr ? queue_.size() : asked_);
  const BatchDecision decision = policy_.Decide(view, clock_->Now(), &cursor_);
  if (decision.take == 0) {
    *wake_at = decision.wake_at;
    return std::nullopt;
  }
  return TakeHead(decision.take);
}

Batch DynamicScheduler::TakeHead(size_t count) {
  Batch batch;
  batch.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    batch.push_back(std::move(queue_.front().request));
    queue_.pop_front();
  }
  ResetCursor();
  return batch;
}

void DynamicScheduler::ResetCursor() {
  cursor_ = BatchCursor{};
  asked_ = 0;
  for (Entry& entry : queue_) {
    if (!entry.refused) continue;
    entry.refused = false;
    break;  // the strategy is not asked past the first one it refuses
  }
}

bool DynamicScheduler::Fits(size_t index) const {
  const View view(*config_, queue_, queue_.size());
  uint64_t units = 0;
  for (size_t i = 0; i <= index; ++i) units += view.units(i);
  return units <= policy_.max_units() && view.Compatible(0, index);
}

void DynamicScheduler::AskStrategy() {
  asking_ = true;
  bool begin = asked_ == 0;
  while (asked_ < queue_.size() && !shut_down_) {
    const size_t index = asked_;
    if (index > 0 && queue_[index - 1].refused) break;
    if (index > 0 && !Fits(index)) {  // whatever the strategy thinks of it
      queue_[index].refused = true;
      ++asked_;
      break;
    }
    InferRequest* const request = queue_[index].request.get();
    const bool end_first = begin && begun_;
    mu_.Unlock();
    if (end_first) strategy_->End();
    if (begin) strategy_->Begin();
    // A batch has at least one request, whatever the strategy says of it.
    const bool include = strategy_->Include(request) || index == 0;
    mu_.Lock();
    begun_ = true;
    begin = false;
    queue_[index].refused = !include;
    ++asked_;
  }
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

Batch DynamicScheduler::TakeCancelled() {
  look_for_cancelled_ = false;
  Batch cancelled;
  for (Entry& entry : queue_) {
    if (entry.request->stream()->IsCancelled()) cancelled.push_back(std::move(entry.request));
  }
  if (cancelled.empty()) return cancelled;
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(),
                              [](const Entry& entry) { return entry.request == nullptr; }),
               queue_.end());
  ResetCursor();
  return cancelled;
}

void DynamicScheduler::Wait(BatchExecutor* self, std::optional<TimePoint> wake_at) {
  std::unique_ptr<Waiter> me;
  if (spare_waiters_.empty()) {
    me = std::make_unique<Waiter>(this);
  } else {
    me = std::move(spare_waiters_.back());
    spare_waiters_.pop_back();
  }
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
  return turn != nullptr && inline_.enabled() && strategy_ == nullptr && !policy_.delays() &&
         turn->HasTimeLeft() && inline_.Allows(now);
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

void DynamicScheduler::RunOnLoan(Waiter* loan, InlineTurn* turn) {
  MutexLock lock(&mu_);
  deferred_.erase(std::remove(deferred_.begin(), deferred_.end(), loan), deferred_.end());
  bool go_on = true;
  while (go_on) {
    std::optional<TimePoint> wake_at;
    std::optional<Batch> batch = TryTake(&wake_at);
    if (!batch.has_value()) break;
    mu_.Unlock();
    const Duration took = loan->executor->Execute(*std::move(batch));
    turn->Spend(took);
    inline_executions_.fetch_add(1, std::memory_order_relaxed);
    mu_.Lock();
    inline_.Record(took);
    if (inline_.IsOverrun(took) && !turn->PreemptedLately()) inline_.Pause(clock_->Now());
    go_on = turn->HasTimeLeft();
  }
  GiveBack(loan);
}

void DynamicScheduler::GiveBack(Waiter* loan) {
  loan->on_loan = false;
  loan->turn = nullptr;
  idle_.push_back(loan);
  if (!queue_.empty() || shut_down_) WakeOne();
}

}  // namespace nereid
