#include "base/timer.h"

#include <pthread.h>

#include <limits>

namespace nereid {
namespace {

constexpr int kCallThreads = 2;

}  // namespace

Timer::Alarm::~Alarm() {
  MutexLock lock(&timer_->mu_);
  // From here on nobody sets it; but a call that is under way may have done so.
  while (state_ == State::kCalling) timer_->call_ended_.Wait(&timer_->mu_);
  if (state_ == State::kSet) timer_->alarms_.erase(place_);
}

void Timer::Alarm::Set(TimePoint at) {
  MutexLock lock(&timer_->mu_);
  if (state_ == State::kCalling) {
    set_again_ = true;
    again_at_ = at;
    return;
  }
  const bool was_set = state_ == State::kSet;
  const auto before = place_;
  timer_->Insert(this, at);  // first: if there is no memory for it, all stays as it was
  if (was_set) timer_->alarms_.erase(before);
}

// Each alarm has at most one call in the executor's queue, so that nothing is gained by a limit.
Timer::Timer(Clock* clock)
    : clock_(clock),
      executor_("time-outs", kCallThreads, std::numeric_limits<size_t>::max()),
      thread_([this] { Run(); }) {
  pthread_setname_np(thread_.native_handle(), "timer");
}

Timer::~Timer() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Timer::Insert(Alarm* alarm, TimePoint at) {
  alarm->place_ = alarms_.emplace(at, alarm);
  alarm->state_ = Alarm::State::kSet;
  if (alarm->place_ == alarms_.begin()) changed_.NotifyAll();
}

void Timer::Run() {
  MutexLock lock(&mu_);
  while (!closed_) {
    if (alarms_.empty()) {
      changed_.Wait(&mu_);
      continue;
    }
    const TimePoint earliest = alarms_.begin()->first;
    if (clock_->Now() < earliest) {
      clock_->Wait(&changed_, &mu_, earliest);
      continue;
    }
    Alarm* const alarm = alarms_.begin()->second;
    alarms_.erase(alarms_.begin());
    alarm->state_ = Alarm::State::kCalling;
    // Cannot be refused: the queue has no limit. It does not run here, so that the mutex may be
    // held.
    (void)executor_.TryRun([this, alarm] { Call(alarm); });
  }
}

void Timer::Call(Alarm* alarm) {
  alarm->fn_();
  MutexLock lock(&mu_);
  alarm->state_ = Alarm::State::kIdle;
  if (std::exchange(alarm->set_again_, false)) Insert(alarm, alarm->again_at_);
  // Under the mutex: whoever waits for the end of the call destroys the alarm.
  call_ended_.NotifyAll();
}

}  // namespace nereid
