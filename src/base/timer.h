// SPDX-License-Identifier: Apache-2.0
// Timer: calls functions at given times. One thread waits for the earliest of all alarms; a few
// others make the calls, so that a call may do some work without delaying other alarms. A call may
// even hang, because it tells somebody else's code: when others wait, one that takes longer than
// kPatience loses its place to a further thread, of which there are at most kMostCallThreads.
// Thread-safe. Each Alarm is owned by one object and must be destroyed before the Timer.
#ifndef NEREID_BASE_TIMER_H_
#define NEREID_BASE_TIMER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class Timer {
 public:
  static constexpr size_t kCallThreads = 2;
  static constexpr size_t kMostCallThreads = 16;
  static constexpr Duration kPatience = std::chrono::seconds(1);

  // A function and, if it is set, the time of its next call. Thread-safe.
  class Alarm {
   public:
    // `fn` runs on a thread of the timer, never concurrently with itself. If it throws because
    // memory is exhausted, it is called again a little later.
    Alarm(Timer* timer, std::function<void()> fn);
    // Waits for a call that is under way; no call follows. REQUIRES: not called from `fn`, and the
    // caller holds no mutex that `fn` takes.
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // Calls the function at `at`, replacing the time of an earlier Set. Never blocks, never fails.
    void Set(TimePoint at) noexcept;

   private:
    friend class Timer;
    enum class State : uint8_t { kIdle, kSet, kCalling };  // kCalling: queued or under way
    using Alarms = std::multimap<TimePoint, Alarm*>;

    Timer* const timer_;
    const std::function<void()> fn_;
    // Guarded by the timer's mutex.
    State state_ = State::kIdle;
    Alarms::node_type node_;  // allocated with the alarm; empty in kSet
    Alarms::iterator place_;  // kSet
    Alarm* next_due_ = nullptr;
    bool set_again_ = false;  // kCalling: Set was called meanwhile with a new time
    TimePoint again_at_;
  };

  // Who makes the calls: threads of the timer, or its owner by MakeDueCalls, as in a simulation.
  enum class Calls : uint8_t { kByThreads, kByOwner };

  // `clock` outlives the timer.
  explicit Timer(Clock* clock, Calls calls = Calls::kByThreads);
  // REQUIRES: all alarms are destroyed.
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // The time of the earliest call; none: no alarm is set.
  std::optional<TimePoint> NextCall() const ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the calls whose time has come, on the calling thread. REQUIRES: Calls::kByOwner, and one
  // thread at a time.
  void MakeDueCalls() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Delay before a failed call is repeated.
  static constexpr Duration kAgain = std::chrono::milliseconds(10);

  struct Caller {
    std::thread thread;
    std::optional<TimePoint> since;  // start of the call under way
  };

  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Body of the threads that make the calls.
  void MakeCalls(Caller* self) ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the first of the calls that are due. REQUIRES: there is one. Releases the mutex
  // meanwhile. `self`: null for the owner of the timer.
  void MakeFirstCall(Caller* self) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Throws std::system_error or std::bad_alloc.
  void AddCaller() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // When a further thread has to be started; none: there is nothing for it to do, or there are as
  // many as there may be.
  std::optional<TimePoint> NextCaller(TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Puts the alarm of the earliest time in the line of those that are due.
  void MoveToDue() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes one call. Returns whether it succeeded.
  static bool Call(const Alarm& alarm) noexcept;
  void Insert(Alarm* alarm, TimePoint at) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Removes the alarm from those that are set.
  void Remove(Alarm* alarm) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends and joins the threads that were started.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  mutable Mutex mu_;
  CondVar changed_;  // the earliest alarm, all callers are busy, or closed_
  CondVar due_;      // a call to make, or closed_
  CondVar call_ended_;
  std::multimap<TimePoint, Alarm*> alarms_ ABSL_GUARDED_BY(mu_);
  // Alarms whose calls are to be made, linked by next_due_: nothing here takes memory.
  Alarm* first_due_ ABSL_GUARDED_BY(mu_) = nullptr;
  Alarm* last_due_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::list<Caller> callers_ ABSL_GUARDED_BY(mu_);   // grows only
  size_t calling_ ABSL_GUARDED_BY(mu_) = 0;          // callers with a call under way
  TimePoint no_caller_before_ ABSL_GUARDED_BY(mu_);  // the machine had no thread or no memory
  std::thread waiter_;                               // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_TIMER_H_
