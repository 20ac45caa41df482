// SPDX-License-Identifier: Apache-2.0
// Reaper: ends versions of models. The thread that releases a version last is often a backend's
// thread that must not wait, so it leaves the work to the reaper. Thread-safe. Owned by the model
// manager.
//
// The reaper's thread is made at the start, so that ending a version needs nothing that the machine
// could refuse: Run neither makes a thread nor takes memory. The reaper's thread gives each job to
// a thread of its own, so that a Finalize that hangs holds up no other version. Only if the machine
// has no more threads, or kMostAtATime jobs hang, does the reaper's thread run the job itself;
// later jobs then wait.
#ifndef NEREID_LIFECYCLE_MODEL_REAPER_H_
#define NEREID_LIFECYCLE_MODEL_REAPER_H_

#include <functional>
#include <list>
#include <thread>

#include "base/mutex.h"
#include "base/threads/thread_pool.h"

namespace nereid {

class Reaper {
 public:
  static constexpr int kMostAtATime = 256;

  // A piece of work, made beforehand.
  using Job = std::list<std::function<void()>>;

  Reaper();
  // Runs the remaining jobs, then joins.
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // Runs `job` soon. Never blocks, never throws.
  void Run(Job job) noexcept ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar changed_;
  Job jobs_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  ThreadPool threads_{
      ThreadPoolOptions{.name = "model ending", .threads = 0, .most_threads = kMostAtATime}};
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_REAPER_H_
