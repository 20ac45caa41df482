// OverdueRuns: tells the runs of an ensemble when their parked executions have waited for the
// longest allowed time. Thread-safe. Owned by the ensemble's context. A run removes itself before
// it ends.
#ifndef NEREID_SCHEDULING_ENSEMBLE_OVERDUE_RUNS_H_
#define NEREID_SCHEDULING_ENSEMBLE_OVERDUE_RUNS_H_

#include <map>
#include <memory>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/timer.h"

namespace nereid {

class EnsembleRun;

class OverdueRuns {
 public:
  // How long an execution waits for others of its request (max_inflight_requests).
  static constexpr Duration kLongestWait = std::chrono::seconds(300);

  using Runs = std::multimap<TimePoint, EnsembleRun*>;
  using Place = Runs::iterator;

  // `timer` is used until Stop; null: no run is ever told.
  OverdueRuns(Timer* timer, Clock* clock);

  // `run` is told at `at`, by StartOverdue, which moves or removes it.
  Place Add(EnsembleRun* run, TimePoint at) ABSL_LOCKS_EXCLUDED(mu_);
  // The run at `place` is told at `at` instead.
  void Move(Place place, TimePoint at) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(Place place) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // No run is told any more. Waits for a call that is under way.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Called by the timer.
  void Tell() ABSL_LOCKS_EXCLUDED(mu_);
  // The first run whose time has come; null if there is none, and the timer is set for the next.
  std::shared_ptr<EnsembleRun> NextDue() ABSL_LOCKS_EXCLUDED(mu_);
  void SetAlarm() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  Mutex mu_;
  Runs runs_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Timer::Alarm> alarm_ ABSL_GUARDED_BY(mu_);  // null: no timer, or stopped
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_OVERDUE_RUNS_H_
