// SPDX-License-Identifier: Apache-2.0
// DeadlineAlarm: the alarm of a scheduler, which rings at the earliest of its deadlines.
// Thread-compatible: owned by a scheduler and used under its mutex.
#ifndef NEREID_SCHEDULING_DEADLINE_ALARM_H_
#define NEREID_SCHEDULING_DEADLINE_ALARM_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/timer.h"

namespace nereid {

class DeadlineAlarm {
 public:
  // Without an alarm until Start.
  DeadlineAlarm() = default;
  DeadlineAlarm(const DeadlineAlarm&) = delete;
  DeadlineAlarm& operator=(const DeadlineAlarm&) = delete;

  // `ring` runs on a thread of `timer`, and calls HasRung first of all. `timer` outlives the alarm.
  void Start(Timer* timer, std::function<void()> ring) {
    alarm_ = std::make_unique<Timer::Alarm>(timer, std::move(ring));
  }
  // Makes the alarm ring at `deadline` at the latest, if there is one. If a deadline is dropped
  // before it is reached, the alarm still rings, without need.
  void RingBy(std::optional<TimePoint> deadline) noexcept {
    if (alarm_ == nullptr || !deadline.has_value() || *deadline >= rings_at_) return;
    alarm_->Set(*deadline);
    rings_at_ = *deadline;
  }
  void HasRung() { rings_at_ = TimePoint::max(); }
  // The alarm rings no more once the caller has destroyed the returned object. Its destructor waits
  // for a call that is under way, so destroy it without holding the mutex.
  [[nodiscard]] std::unique_ptr<Timer::Alarm> Stop() { return std::move(alarm_); }

 private:
  std::unique_ptr<Timer::Alarm> alarm_;
  TimePoint rings_at_ = TimePoint::max();  // max: not set
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DEADLINE_ALARM_H_
