// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/cpu_permits.h"

namespace nereid_backend {
namespace {

// A thread that is ready to compute overtakes one that must still wake up and would leave a CPU
// idle meanwhile, but only a limited number of times.
constexpr int kMostOvertakings = 32;

}  // namespace

void CpuPermits::Take(int count) {
  std::unique_lock<std::mutex> lock(mu_);
  const bool may_overtake = waiting_.empty() || overtakings_ < kMostOvertakings;
  if (free_ >= count && may_overtake) {
    if (!waiting_.empty()) ++overtakings_;
    free_ -= count;
    return;
  }
  Waiter self{count, {}};
  waiting_.push_back(&self);
  self.ready.wait(lock, [&] { return waiting_.front() == &self && free_ >= count; });
  waiting_.pop_front();
  overtakings_ = 0;
  free_ -= count;
  // The remaining permits may suffice for the next waiter.
  if (!waiting_.empty() && free_ >= waiting_.front()->count) waiting_.front()->ready.notify_one();
}

void CpuPermits::Give(int count) {
  const std::lock_guard<std::mutex> lock(mu_);
  free_ += count;
  if (!waiting_.empty() && free_ >= waiting_.front()->count) waiting_.front()->ready.notify_one();
}

}  // namespace nereid_backend
