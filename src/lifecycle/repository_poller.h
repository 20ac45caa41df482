// RepositoryPoller: the thread that looks at the model repositories from time to time. Thread-safe.
// A thread of its own, because files may be on the other side of a slow network.
#ifndef NEREID_LIFECYCLE_REPOSITORY_POLLER_H_
#define NEREID_LIFECYCLE_REPOSITORY_POLLER_H_

#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class RepositoryPoller {
 public:
  // Calls `poll` every `interval`, the first time after one. `clock` outlives this.
  RepositoryPoller(Clock* clock, Duration interval, std::function<void()> poll);
  // Waits for a call that is under way, however long that takes.
  ~RepositoryPoller();
  RepositoryPoller(const RepositoryPoller&) = delete;
  RepositoryPoller& operator=(const RepositoryPoller&) = delete;

  // No further call. Waits for one that is under way; false if `deadline` comes first: then it
  // still uses what it uses, and this may not be destroyed.
  bool Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  const Duration interval_;
  const std::function<void()> poll_;
  Mutex mu_;
  CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // the thread has nothing left to do
  std::thread thread_;                       // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_REPOSITORY_POLLER_H_
