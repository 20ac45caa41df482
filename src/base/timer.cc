#include "base/timer.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/log.h"
#include "base/timer_slack.h"

namespace nereid {
namespace {

constexpr int kCallThreads = 2;

}  // namespace

Timer::Alarm::Alarm(Timer* timer, std::function<void()> fn) : timer_(timer), fn_(std::move(fn)) {
  Alarms one;
  one.emplace(TimePoint(), this);
  node_ = one.extract(one.begin());
}

Timer::Alarm::~Alarm() {
  MutexLock lock(&timer_->mu_);
  // From here on the alarm is not set again, but a call in progress may have set it.
  while (state_ == State::kCalling) timer_->call_ended_.Wait(&timer_->mu_);
  if (state_ == State::kSet) timer_->Remove(this);
}

void Timer::Alarm::Set(TimePoint at) noexcept {
  MutexLock lock(&timer_->mu_);
  if (state_ == State::kCalling) {
    set_again_ = true;
    again_at_ = at;
    return;
  }
  if (state_ == State::kSet) timer_->Remove(this);
  timer_->Insert(this, at);
}

Timer::Timer(Clock* clock, Calls calls) : clock_(clock) {
  if (calls == Calls::kByOwner) return;
  try {
    threads_.reserve(1 + kCallThreads);
    threads_.emplace_back([this] { Run(); });
    pthread_setname_np(threads_.back().native_handle(), "timer");
    for (int i = 0; i < kCallThreads; ++i) {
      threads_.emplace_back([this] { MakeCalls(); });
      pthread_setname_np(threads_.back().native_handle(), "time-outs");
    }
  } catch (...) {  // threads already created must not outlive the timer
    Join();
    throw;
  }
}

Timer::~Timer() { Join(); }

void Timer::Join() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  due_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void Timer::Insert(Alarm* alarm, TimePoint at) noexcept {
  alarm->node_.key() = at;
  alarm->place_ = alarms_.insert(std::move(alarm->node_));
  alarm->state_ = Alarm::State::kSet;
  if (alarm->place_ == alarms_.begin()) changed_.NotifyAll();
}

void Timer::Remove(Alarm* alarm) noexcept {
  alarm->node_ = alarms_.extract(alarm->place_);
  alarm->state_ = Alarm::State::kIdle;
}

void Timer::Run() {
  WakeWhenDue();
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
    MoveToDue();
    due_.NotifyOne();
  }
}

void Timer::MoveToDue() noexcept {
  Alarm* const alarm = alarms_.begin()->second;
  Remove(alarm);
  alarm->state_ = Alarm::State::kCalling;
  alarm->next_due_ = nullptr;
  (first_due_ == nullptr ? first_due_ : last_due_->next_due_) = alarm;
  last_due_ = alarm;
}

std::optional<TimePoint> Timer::NextCall() const {
  MutexLock lock(&mu_);
  if (alarms_.empty()) return std::nullopt;
  return alarms_.begin()->first;
}

void Timer::MakeDueCalls() {
  MutexLock lock(&mu_);
  while (!alarms_.empty() && alarms_.begin()->first <= clock_->Now()) {
    MoveToDue();
    MakeFirstCall();
  }
}

void Timer::MakeCalls() {
  mu_.Lock();
  while (true) {
    while (first_due_ == nullptr && !closed_) due_.Wait(&mu_);
    if (first_due_ == nullptr) break;
    MakeFirstCall();
  }
  mu_.Unlock();
}

void Timer::MakeFirstCall() {
  Alarm* const alarm = std::exchange(first_due_, first_due_->next_due_);
  mu_.Unlock();
  const bool succeeded = Call(*alarm);
  mu_.Lock();
  alarm->state_ = Alarm::State::kIdle;
  const bool again = std::exchange(alarm->set_again_, false);
  if (!succeeded) {
    Insert(alarm, clock_->Now() + kAgain);
  } else if (again) {
    Insert(alarm, alarm->again_at_);
  }
  // Under the mutex, because the thread that waits for the end of the call destroys the alarm.
  call_ended_.NotifyAll();
}

bool Timer::Call(const Alarm& alarm) noexcept try {
  alarm.fn_();
  return true;
} catch (const std::exception& e) {
  LOG_ERROR << "a call of the timer failed, and is made again: " << e.what();
  return false;
}

}  // namespace nereid
