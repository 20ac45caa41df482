// SPDX-License-Identifier: Apache-2.0
// TimerQueue: which of many timers is due next. Most timers never are: a call usually ends long
// before its deadline. So a timer needs no memory of its own, to add one that ends last takes
// constant time, and to remove one takes logarithmic time.
//
// Thread-compatible; owned by a loop.
#ifndef NEREID_FRONTENDS_TRANSPORT_TIMER_QUEUE_H_
#define NEREID_FRONTENDS_TRANSPORT_TIMER_QUEUE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace nereid::transport {

// Something that wants to be told a time. Must be in no queue when it is destroyed.
class Timer {
 public:
  virtual ~Timer() = default;
  // The time has come, and the timer has left the queue.
  virtual void OnTimer() = 0;

 private:
  friend class TimerQueue;
  static constexpr size_t kNowhere = static_cast<size_t>(-1);
  TimePoint when_;
  size_t place_ = kNowhere;  // in the heap
};

class TimerQueue {
 public:
  // Adds `timer`, or moves it if it is in the queue already.
  void Set(Timer* timer, TimePoint when);
  // No effect if `timer` is not in the queue.
  void Remove(Timer* timer);
  // The time of the earliest timer; none if there is no timer.
  std::optional<TimePoint> next() const;
  // Removes the earliest timer if its time is `now` or before. Null if there is none.
  Timer* TakeDue(TimePoint now);
  size_t size() const { return heap_.size(); }

 private:
  // Moves `timer` from the free place `i` towards the front, or towards the back, to where it
  // belongs.
  void SiftUp(size_t i, Timer* timer);
  void SiftDown(size_t i, Timer* timer);
  void Put(size_t i, Timer* timer);

  std::vector<Timer*> heap_;  // binary, the earliest first
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TIMER_QUEUE_H_
