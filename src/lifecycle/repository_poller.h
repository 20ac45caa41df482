// RepositoryPoller: the thread that polls the model repositories at intervals. Thread-safe. The
// poller has its own thread because files may be on the other side of a slow network.
#ifndef NEREID_LIFECYCLE_REPOSITORY_POLLER_H_
#define NEREID_LIFECYCLE_REPOSITORY_POLLER_H_

#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class RepositoryPoller {
 public:
  // Calls `poll` every `interval`, first after one `interval`. `clock` outlives this.
  RepositoryPoller(Clock* clock, Duration interval, std::function<void()> poll);
  // Waits for a call that is under way, however long the call takes.
  ~RepositoryPoller();
  RepositoryPoller(const RepositoryPoller&) = delete;
  RepositoryPoller& operator=(const RepositoryPoller&) = delete;

  // Makes no further call, and waits for a call under way. False if `deadline` comes first: then
  // the call still uses its resources, and the poller must not be destroyed.
  bool Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  const Duration interval_;
  const std::function<void()> poll_;
  Mutex mu_;
  CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // the thread has finished
  std::thread thread_;                       // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_REPOSITORY_POLLER_H_
