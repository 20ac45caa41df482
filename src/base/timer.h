// Timer: calls functions at a time. One thread waits for the earliest of all alarms; a few others
// make the calls, so that a call may do work without making the other alarms late.
// Thread-safe; an Alarm is owned by one object, whose alarm must be gone before the Timer.
#ifndef NEREID_BASE_TIMER_H_
#define NEREID_BASE_TIMER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class Timer {
 public:
  // A function and the one time when it is to be called next, if any. Thread-safe.
  class Alarm {
   public:
    // `fn` runs on a thread of the timer, never twice at a time. Where it throws, for want of
    // memory, it is called again a little later.
    Alarm(Timer* timer, std::function<void()> fn);
    // Waits for a call that is under way; there is none afterwards. REQUIRES: not called by `fn`,
    // and the caller holds no mutex that `fn` takes.
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // Calls the function at `at`, and no longer when an earlier Set said. Never blocks, never
    // fails.
    void Set(TimePoint at) noexcept;

   private:
    friend class Timer;
    enum class State : uint8_t { kIdle, kSet, kCalling };  // kCalling: queued or under way
    using Alarms = std::multimap<TimePoint, Alarm*>;

    Timer* const timer_;
    const std::function<void()> fn_;
    // Guarded by the timer's mutex.
    State state_ = State::kIdle;
    Alarms::node_type node_;  // its own, made with it; empty in kSet
    Alarms::iterator place_;  // kSet
    Alarm* next_due_ = nullptr;
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
  // How long after a call that failed the next one is made.
  static constexpr Duration kAgain = std::chrono::milliseconds(10);

  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // What the threads that make the calls do.
  void MakeCalls() ABSL_LOCKS_EXCLUDED(mu_);
  // Makes one call. Returns whether it succeeded.
  static bool Call(const Alarm& alarm) noexcept;
  void Insert(Alarm* alarm, TimePoint at) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes it out of those that are set.
  void Remove(Alarm* alarm) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends and joins those threads that there are.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  Mutex mu_;
  CondVar changed_;  // the earliest alarm, or closed_
  CondVar due_;      // a call to make, or closed_
  CondVar call_ended_;
  std::multimap<TimePoint, Alarm*> alarms_ ABSL_GUARDED_BY(mu_);
  // Alarms whose calls are to be made, linked by next_due_: nothing here takes memory.
  Alarm* first_due_ ABSL_GUARDED_BY(mu_) = nullptr;
  Alarm* last_due_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;  // last: use all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_TIMER_H_
