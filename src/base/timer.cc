// SPDX-License-Identifier: Apache-2.0
#include "base/timer.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {

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
    waiter_ = StartThread({.name = "timer"}, [this] { Run(); });
    MutexLock lock(&mu_);
    while (callers_.size() < kCallThreads) AddCaller();
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
  if (waiter_.joinable()) waiter_.join();
  // No more callers are added.
  std::list<Caller*> callers;
  {
    MutexLock lock(&mu_);
    for (Caller& caller : callers_) callers.push_back(&caller);
  }
  for (Caller* const caller : callers) caller->thread.join();
}

void Timer::AddCaller() {
  Caller* const caller = &callers_.emplace_back();
  try {
    caller->thread = StartThread({.name = "time-outs"}, [this, caller] { MakeCalls(caller); });
  } catch (...) {
    callers_.pop_back();
    throw;
  }
}

std::optional<TimePoint> Timer::NextCaller(TimePoint now) const {
  const bool others_wait = first_due_ != nullptr && calling_ == callers_.size();
  if (!others_wait || callers_.size() >= kMostCallThreads) return std::nullopt;
  size_t late = 0;
  std::optional<TimePoint> next;
  for (const Caller& caller : callers_) {
    const TimePoint patient_until = *caller.since + kPatience;
    if (patient_until <= now) {
      ++late;
    } else if (!next.has_value() || patient_until < *next) {
      next = patient_until;
    }
  }
  if (callers_.size() - late < kCallThreads) next = now;
  return next.has_value() ? std::make_optional(std::max(*next, no_caller_before_)) : std::nullopt;
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
    const TimePoint now = clock_->Now();
    if (!alarms_.empty() && alarms_.begin()->first <= now) {
      MoveToDue();
      due_.NotifyOne();
      continue;
    }
    std::optional<TimePoint> wake = NextCaller(now);
    if (wake.has_value() && *wake <= now) {
      try {
        AddCaller();
      } catch (const std::exception&) {  // by then there may be a thread
        no_caller_before_ = now + kPatience;
      }
      continue;
    }
    if (!alarms_.empty() && (!wake.has_value() || alarms_.begin()->first < *wake)) {
      wake = alarms_.begin()->first;
    }
    clock_->Wait(&changed_, &mu_, wake);
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
    MakeFirstCall(nullptr);
  }
}

void Timer::MakeCalls(Caller* self) {
  mu_.Lock();
  while (true) {
    while (first_due_ == nullptr && !closed_) due_.Wait(&mu_);
    if (first_due_ == nullptr) break;
    MakeFirstCall(self);
  }
  mu_.Unlock();
}

void Timer::MakeFirstCall(Caller* self) {
  Alarm* const alarm = std::exchange(first_due_, first_due_->next_due_);
  if (self != nullptr) {
    self->since = clock_->Now();
    ++calling_;
    // The waiting thread has to see to it that the others do not wait for long.
    if (first_due_ != nullptr && calling_ == callers_.size()) changed_.NotifyAll();
  }
  mu_.Unlock();
  const bool succeeded = Call(*alarm);
  mu_.Lock();
  if (self != nullptr) {
    self->since.reset();
    --calling_;
  }
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
