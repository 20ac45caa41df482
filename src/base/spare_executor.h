// SPDX-License-Identifier: Apache-2.0
// SpareExecutor: threads for jobs of which some may hang. When other jobs wait, a job that runs
// longer than `patience` no longer counts and a spare thread takes its place, so that it delays no
// other. The queue and the number of threads are bounded. Thread-safe.
#ifndef NEREID_BASE_SPARE_EXECUTOR_H_
#define NEREID_BASE_SPARE_EXECUTOR_H_

#include <absl/functional/any_invocable.h>
#include <absl/functional/function_ref.h>

#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

struct SpareExecutorOptions {
  std::string name;          // name of the threads; the system shows the first 15 characters
  int threads = 2;           // at least 1; more are started while jobs take long
  int most_threads = 16;     // including threads whose jobs hang
  size_t queue_limit = 256;  // waiting jobs
  Duration patience = std::chrono::seconds(1);
  Clock* clock = Clock::Real();  // outlives the executor
  bool background = false;       // the threads yield to others that wake up (background_thread.h)
};

class NEREID_API SpareExecutor {
 public:
  explicit SpareExecutor(SpareExecutorOptions options);
  // Ends, and also waits for jobs that hang.
  ~SpareExecutor();
  SpareExecutor(const SpareExecutor&) = delete;
  SpareExecutor& operator=(const SpareExecutor&) = delete;

  // Queues `job`, which is called once, without arguments. Returns false if the queue is full or
  // End was called: the job is then left with the caller as it was, so that a caller that keeps the
  // job's parts in a named object has them back. Never blocks.
  template <typename Job>
  [[nodiscard]] bool TryRun(Job&& job) ABSL_LOCKS_EXCLUDED(mu_) {
    return Queue([&job] { return absl::AnyInvocable<void()>(std::forward<Job>(job)); });
  }

  // Refuses new jobs and waits until all accepted jobs have run. Returns true once the threads are
  // gone. Returns false if `deadline` passes first: waiting jobs are then destroyed without being
  // called, and the process should end. Only one caller.
  [[nodiscard]] bool End(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using AnyJob = absl::AnyInvocable<void()>;

  // Queues the job that `take` moves out of its caller's hands, and calls that only if there is
  // room.
  bool Queue(absl::FunctionRef<AnyJob()> take) ABSL_LOCKS_EXCLUDED(mu_);

  struct Worker {
    std::thread thread;
    std::optional<TimePoint> since;  // start of the running job
  };

  void Work(Worker* self) ABSL_LOCKS_EXCLUDED(mu_);
  // Starts spare threads.
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // When the next job will have taken too long; none if that does not matter now.
  std::optional<TimePoint> NextLate(TimePoint now, int* late) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns false if the machine has no more threads.
  bool AddWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SpareExecutorOptions options_;
  Mutex mu_;
  CondVar changed_;  // a job was queued, or the end has begun
  CondVar watch_;    // jobs find no idle thread, or the end has begun
  CondVar idle_;     // a job has ended
  std::deque<AnyJob> jobs_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
  std::list<Worker> workers_ ABSL_GUARDED_BY(mu_);
  std::thread watcher_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_SPARE_EXECUTOR_H_
