// Reaper: ends versions of models: whoever lets go of one last, often a backend's thread that must
// not wait, leaves the work to it. Thread-safe. Owned by the model manager.
//
// Its thread is made at the start, so that ending a version needs nothing that the machine could
// refuse: Run neither makes a thread nor takes memory. The reaper's thread gives each job to a
// thread of its own, so that a Finalize that hangs holds up no other version. Only where the
// machine has no more threads, or kMostAtATime jobs hang, it does the job itself, and those after
// it wait.
#ifndef NEREID_LIFECYCLE_REAPER_H_
#define NEREID_LIFECYCLE_REAPER_H_

#include <cstddef>
#include <functional>
#include <list>
#include <thread>

#include "base/job_threads.h"
#include "base/mutex.h"

namespace nereid {

class Reaper {
 public:
  static constexpr size_t kMostAtATime = 256;

  // Something to be done, made beforehand.
  using Job = std::list<std::function<void()>>;

  Reaper();
  // Does what is left, then joins.
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // Does `job` soon. Never blocks, never throws.
  void Run(Job job) noexcept ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar changed_;
  Job jobs_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  JobThreads threads_{"model ending", kMostAtATime};
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_REAPER_H_
