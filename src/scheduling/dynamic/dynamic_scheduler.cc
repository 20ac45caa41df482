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
                                   std::unique_ptr<BatchStrategy> strategy, Clock* clock)
    : config_(config), clock_(clock), policy_(*config), strategy_(std::move(strategy)) {}

DynamicScheduler::~DynamicScheduler() { Shutdown(); }

absl::Status DynamicScheduler::Enqueue(RequestPtr* request) {
  const TimePoint now = clock_->Now();
  bool wake = false;
  {
    MutexLock lock(&mu_);
    if (admission_closed_) {
      return absl::UnavailableError(absl::StrCat((*request)->LogPrefix(), kStopping));
    }
    if ((*request)->queue_start_ns == 0) (*request)->queue_start_ns = ToNanos(now);
    queue_.push_back({std::move(*request), now});
    // A waiting leader is left asleep unless this request completes its batch.
    wake = idle_ > 0;
    if (wake && leader_waits_ && strategy_ == nullptr) {
      const View view(*config_, queue_, queue_.size());
      wake = policy_.Decide(view, now, &cursor_).take > 0;
    }
  }
  if (wake) wake_.NotifyOne();
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
    if (!cancelled.empty() && idle_ > 0) wake_.NotifyOne();
  }
  AnswerAll(std::move(cancelled), absl::CancelledError(""), FailureReason::kCanceled);
}

void DynamicScheduler::Shutdown() {
  Batch left;
  {
    MutexLock lock(&mu_);
    admission_closed_ = true;
    shut_down_ = true;
    while (asking_) wake_.Wait(&mu_);
    for (Entry& entry : queue_) left.push_back(std::move(entry.request));
    queue_.clear();
    ResetCursor();
  }
  wake_.NotifyAll();
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

Batch DynamicScheduler::Pull() {
  std::optional<Batch> batch;
  while (!batch.has_value()) {
    Batch cancelled;
    {
      MutexLock lock(&mu_);
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
        Wait(wake_at);
      }
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
  Batch batch = TakeHead(decision.take);
  // What is left may be a batch for another idle instance, or needs a new leader.
  if (!queue_.empty() && idle_ > 0) wake_.NotifyOne();
  return batch;
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
  wake_.NotifyAll();  // whoever waited for the asking to end
}

void DynamicScheduler::EndStrategy() {
  asking_ = true;
  begun_ = false;
  mu_.Unlock();
  strategy_->End();
  mu_.Lock();
  asking_ = false;
  wake_.NotifyAll();  // whoever waited for the asking to end
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

void DynamicScheduler::Wait(std::optional<TimePoint> wake_at) {
  ++idle_;
  const bool lead = wake_at.has_value() && !leader_waits_;
  if (lead) {
    leader_waits_ = true;
    clock_->Wait(&wake_, &mu_, wake_at);
    leader_waits_ = false;
  } else {
    wake_.Wait(&mu_);
  }
  --idle_;
}

}  // namespace nereid
