// SPDX-License-Identifier: Apache-2.0
// ExitWatchdog: ends the process if the shutdown takes too long, whatever hangs. Thread-safe. Its
// thread is created at the start, because the machine may have none left when it is needed.
#ifndef NEREID_APPS_NEREID_EXIT_WATCHDOG_H_
#define NEREID_APPS_NEREID_EXIT_WATCHDOG_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

// Ends the process with exit status 1 after `last_words`, which may be lines of the log, or a
// second later if those hang. Does not return.
void EndProcess(const std::function<void()>& last_words);

class ExitWatchdog {
 public:
  // Describes what hangs, one sentence each. Must not wait for anything.
  using Reporter = std::function<std::vector<std::string>()>;
  using Ender = std::function<void(const std::function<void()>& last_words)>;

  // `end` is called at the deadline. `clock` outlives the watchdog.
  ExitWatchdog(Clock* clock, Ender end);
  ~ExitWatchdog();
  ExitWatchdog(const ExitWatchdog&) = delete;
  ExitWatchdog& operator=(const ExitWatchdog&) = delete;

  // Ends the process at `deadline`, after logging what `reporter` returns then.
  void Arm(TimePoint deadline, Reporter reporter) ABSL_LOCKS_EXCLUDED(mu_);
  // Sets another reporter. Once this has returned, the previous one is not called any more.
  void Report(Reporter reporter) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  const Ender end_;
  Mutex mu_;
  CondVar changed_;
  TimePoint deadline_ ABSL_GUARDED_BY(mu_) = TimePoint::max();
  Reporter reporter_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;  // the reporter may be running
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_EXIT_WATCHDOG_H_
