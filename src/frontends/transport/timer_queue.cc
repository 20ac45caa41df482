// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/timer_queue.h"

namespace nereid::transport {

void TimerQueue::Set(Timer* timer, TimePoint when) {
  Remove(timer);
  timer->when_ = when;
  heap_.push_back(timer);
  SiftUp(heap_.size() - 1, timer);
}

void TimerQueue::Remove(Timer* timer) {
  const size_t free = timer->place_;
  if (free == Timer::kNowhere) return;
  timer->place_ = Timer::kNowhere;
  Timer* const last = heap_.back();
  heap_.pop_back();
  if (last == timer) return;
  if (last->when_ < timer->when_) {
    SiftUp(free, last);
  } else {
    SiftDown(free, last);
  }
}

std::optional<TimePoint> TimerQueue::next() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front()->when_;
}

Timer* TimerQueue::TakeDue(TimePoint now) {
  if (heap_.empty() || heap_.front()->when_ > now) return nullptr;
  Timer* const due = heap_.front();
  Remove(due);
  return due;
}

void TimerQueue::SiftUp(size_t i, Timer* timer) {
  while (i > 0) {
    const size_t parent = (i - 1) / 2;
    if (heap_[parent]->when_ <= timer->when_) break;
    Put(i, heap_[parent]);
    i = parent;
  }
  Put(i, timer);
}

void TimerQueue::SiftDown(size_t i, Timer* timer) {
  while (true) {
    size_t child = 2 * i + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1]->when_ < heap_[child]->when_) ++child;
    if (heap_[child]->when_ >= timer->when_) break;
    Put(i, heap_[child]);
    i = child;
  }
  Put(i, timer);
}

void TimerQueue::Put(size_t i, Timer* timer) {
  heap_[i] = timer;
  timer->place_ = i;
}

}  // namespace nereid::transport
