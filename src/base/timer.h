// Timer: calls functions at a time. One thread waits for the earliest of all alarms; a few others
// make the calls, so that a call may do work without making the other alarms late.
// Thread-safe; an Alarm is owned by one object, whose alarm must be gone before the Timer.
#ifndef NEREID_BASE_TIMER_H_
#define NEREID_BASE_TIMER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/executor.h"
#include "base/mutex.h"

namespace nereid {

class Timer {
 public:
  // A function and the one time when it is to be called next, if any. Thread-safe.
  class Alarm {
   public:
    // `fn` runs on a thread of the timer, never twice at a time.
    Alarm(Timer* timer, std::function<void()> fn) : timer_(timer), fn_(std::move(fn)) {}
    // Waits for a call that is under way; there is none afterwards. REQUIRES: not called by `fn`,
    // and the caller holds no mutex that `fn` takes.
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // Calls the function at `at`, and no longer when an earlier Set said. Never blocks.
    void Set(TimePoint at);

   private:
    friend class Timer;
    enum class State : uint8_t { kIdle, kSet, kCalling };  // kCalling: queued or under way
    using Place = std::multimap<TimePoint, Alarm*>::iterator;

    Timer* const timer_;
    const std::function<void()> fn_;
    // Guarded by the timer's mutex.
    State state_ = State::kIdle;
    Place place_;             // kSet
    bool set_again_ = false;  // kCalling: Set was called meanwhile, with this time
    TimePoint again_at_;
  };

  // `clock` outlives this.
  explicit Timer(Clock* clock);
  // REQUIRES: no alarm is left.
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  void Call(Alarm* alarm) ABSL_LOCKS_EXCLUDED(mu_);
  void Insert(Alarm* alarm, TimePoint at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  Mutex mu_;
  CondVar changed_;  // the earliest alarm, or closed_
  CondVar call_ended_;
  std::multimap<TimePoint, Alarm*> alarms_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  Executor executor_;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_TIMER_H_
