// SpareExecutor: threads for jobs of which some may hang. A job that takes longer than the patience
// gives its place to a spare thread while others wait, so that it holds up nobody else. Queue and
// number of threads are bounded. Thread-safe.
#ifndef NEREID_BASE_SPARE_EXECUTOR_H_
#define NEREID_BASE_SPARE_EXECUTOR_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

struct SpareExecutorOptions {
  std::string name;          // of the threads; the system shows its first 15 characters
  int threads = 2;           // at least 1; further ones are made while jobs take long
  int most_threads = 16;     // with those whose jobs hang
  size_t queue_limit = 256;  // jobs that wait
  Duration patience = std::chrono::seconds(1);
  Clock* clock = Clock::Real();  // outlives the executor
  bool background = false;  // its threads make way for others that wake up (background_thread.h)
};

class NEREID_API SpareExecutor {
 public:
  explicit SpareExecutor(SpareExecutorOptions options);
  // Ends, and waits for jobs that hang, too.
  ~SpareExecutor();
  SpareExecutor(const SpareExecutor&) = delete;
  SpareExecutor& operator=(const SpareExecutor&) = delete;

  // Queues `job`. False if the queue is full, or End was called: then it will not run. Never
  // blocks.
  [[nodiscard]] bool TryRun(std::function<void()> job) ABSL_LOCKS_EXCLUDED(mu_);

  // Refuses new jobs, and waits until those that it has taken have run. True: the threads are gone.
  // False if `deadline` comes first: jobs that still wait are destroyed without a call, and the
  // process had better end. One caller.
  [[nodiscard]] bool End(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Worker {
    std::thread thread;
    std::optional<TimePoint> since;  // of the job that it runs
  };

  void Work(Worker* self) ABSL_LOCKS_EXCLUDED(mu_);
  // Makes spare threads.
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // When the next job will have taken too long, as far as that matters; none: it does not.
  std::optional<TimePoint> NextLate(TimePoint now, int* late) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // False if the machine has no more.
  bool AddWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SpareExecutorOptions options_;
  Mutex mu_;
  CondVar changed_;  // a job, or the end
  CondVar watch_;    // jobs find no idle thread, or the end
  CondVar idle_;     // a job has ended
  std::deque<std::function<void()>> jobs_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
  std::list<Worker> workers_ ABSL_GUARDED_BY(mu_);
  std::thread watcher_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_SPARE_EXECUTOR_H_
