// SPDX-License-Identifier: Apache-2.0
// Ticker: a thread that calls a function at intervals. Thread-safe. For work that may wait for a
// disk or for a slow network, which Timer's threads must not do.
#ifndef NEREID_BASE_TICKER_H_
#define NEREID_BASE_TICKER_H_

#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class Ticker {
 public:
  // Calls `tick` every `interval`, first after one `interval`. If it throws, the log says that the
  // server failed to `task`, and the next call comes as usual. `clock` outlives this.
  Ticker(Clock* clock, Duration interval, std::string task, std::function<void()> tick);
  // Waits for a call that is under way, however long the call takes.
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // Makes no further call, and waits for a call under way. False if `deadline` comes first: then
  // the call still uses its resources, and the ticker must not be destroyed.
  bool Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  const Duration interval_;
  const std::string task_;
  const std::function<void()> tick_;
  Mutex mu_;
  CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // the thread has finished
  std::thread thread_;                       // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_TICKER_H_
