// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/shadow_queue.h"

#include <algorithm>

namespace nereid {
namespace {

constexpr double kStep = 1.0 / 2048;  // the weight of one request in the means
// Latency and load decide between plans with equally few late requests: a mean latency as long as
// the target costs as much as 0.3 % late requests, and so do instances that are never idle.
constexpr double kLatencyCost = 0.003;
constexpr double kBusyFrom = 0.7;
constexpr double kBusyCost = 0.01;
// Fewer than the log can hold, so that all waiting requests are in the log.
constexpr uint64_t kMostWaiting = ArrivalLog::kSize / 2;

void Approach(double value, double* mean) { *mean += (value - *mean) * kStep; }

double Nanos(Duration duration) { return static_cast<double>(duration.count()); }

}  // namespace

ShadowQueue::ShadowQueue(const ArrivalLog* log, const ServiceCurve* curve, Duration target,
                         size_t instances)
    : log_(log), curve_(curve), target_(target), free_at_(instances, TimePoint::min()) {}

std::vector<TimePoint>::iterator ShadowQueue::NextFree() {
  return std::min_element(free_at_.begin(), free_at_.end());
}

TimePoint ShadowQueue::Due(TimePoint free) const {
  if (units_ < plan_.max_units) return std::max(log_->At(head_).at + plan_.delay, free);
  // The batch was not full before the last arrival, or it would have started then.
  return std::max(last_arrival_, free);
}

void ShadowQueue::Arrive() {
  const Arrival& arrival = log_->At(log_->end() - 1);
  for (auto free = NextFree(); head_ < tail_; free = NextFree()) {
    const TimePoint due = Due(*free);
    if (due > arrival.at) break;
    Start(&*free, due);
  }
  if (tail_ == 0) {
    head_ = log_->end() - 1;
  } else {
    Approach(Nanos(arrival.at - last_arrival_), &gap_);
  }
  last_arrival_ = arrival.at;
  tail_ = log_->end();
  units_ += arrival.units;
  if (waiting() > kMostWaiting) {
    // More requests wait than can be served in time: the oldest is dropped and counts as late.
    const Arrival& oldest = log_->At(head_++);
    units_ -= oldest.units;
    CountLatency(arrival.at - oldest.at, /*late=*/true);
  }
  if (const auto free = NextFree(); Due(*free) <= arrival.at) Start(&*free, arrival.at);
}

void ShadowQueue::Start(TimePoint* instance, TimePoint now) {
  const uint64_t limit = BatchLimit(plan_, *curve_, target_, now - log_->At(head_).at);
  uint64_t batch = 0;
  uint64_t end = head_;
  while (end < tail_ && (end == head_ || batch + log_->At(end).units <= limit)) {
    batch += log_->At(end++).units;
  }
  const Duration typical = curve_->Typical(batch);
  const Duration cautious = curve_->Cautious(batch);
  const double share = Nanos(typical) / static_cast<double>(end - head_);
  for (; head_ < end; ++head_) {
    const Duration waited = now - log_->At(head_).at;
    CountLatency(waited + typical, waited + cautious > target_);
    Approach(share, &busy_);
  }
  units_ -= batch;
  *instance = now + typical;
}

void ShadowQueue::CountLatency(Duration latency, bool late) {
  Approach(late ? 1 : 0, &late_);
  Approach(std::min(2.0, Nanos(latency) / Nanos(target_)), &latency_);
}

double ShadowQueue::cost() const {
  const double available = gap_ * static_cast<double>(free_at_.size());
  const double used = available > 0 ? std::min(1.0, busy_ / available) : 0;
  return late_ + kLatencyCost * latency_ + kBusyCost * std::max(0.0, used - kBusyFrom);
}

}  // namespace nereid
