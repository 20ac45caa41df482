// SPDX-License-Identifier: Apache-2.0
// ThreadPool: threads for jobs that may block, of which some may hang. Thread-safe.
//
// A pool has places, and each place has a thread that runs one job after the other, in the order in
// which they came. A job that has run for longer than `patience` while others wait loses its place:
// a new thread takes that, and the old one ends after the job. So a job that hangs delays others
// only for a while. The jobs that wait and the threads, including those whose jobs hang, are
// limited.
//
// A pool without places gives each job a thread of its own, and refuses a job that can have none.
//
// No thread is detached: when the pool has gone, none of its threads runs our code.
#ifndef NEREID_BASE_THREADS_THREAD_POOL_H_
#define NEREID_BASE_THREADS_THREAD_POOL_H_

#include <absl/functional/any_invocable.h>
#include <absl/functional/function_ref.h>

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

struct ThreadPoolOptions {
  std::string name;          // of the threads; the system shows the first 15 characters
  int threads = 2;           // places; 0: each job has a thread of its own
  int most_threads = 16;     // as many as there are places: no job loses its place
  size_t queue_limit = 256;  // jobs that wait for a place
  Duration patience = std::chrono::seconds(1);
  Clock* clock = Clock::Real();  // outlives the pool
  bool background = false;       // BecomeBackgroundThread, in base/threads/thread.h
};

class NEREID_API ThreadPool {
 public:
  // Throws std::system_error or std::bad_alloc if the machine lacks the threads for the places.
  explicit ThreadPool(ThreadPoolOptions options);
  // Waits for all jobs: those that were accepted, and those that they still give to the pool.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Accepts `job`, which is then certain to be called once, without arguments; an exception that it
  // throws is logged. Returns false if there is no room, if End was called or if the machine has no
  // memory or, for a pool without places, no thread: the job is then left with the caller as it
  // was, so that a caller that keeps the job's parts in a named object has them back. Never waits
  // for a job, never throws.
  template <typename Job>
  [[nodiscard]] bool TryRun(Job&& job) ABSL_LOCKS_EXCLUDED(mu_) {
    return Accept([&job] { return absl::AnyInvocable<void()>(std::forward<Job>(job)); });
  }

  // Refuses new jobs and waits until all accepted jobs have run. Returns true once the threads are
  // gone. Returns false if `deadline` passes first: waiting jobs are then destroyed without being
  // called, and the process should end. Only one caller.
  [[nodiscard]] bool End(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using AnyJob = absl::AnyInvocable<void()>;
  using Jobs = std::list<AnyJob>;

  struct Worker {
    std::thread thread;
    std::optional<TimePoint> since;  // start of the running job
    bool has_place = true;           // else it ends after its job
  };
  using Workers = std::list<Worker>;

  // Accepts the job that `take` moves out of its caller's hands, and calls that only if there is
  // room.
  bool Accept(absl::FunctionRef<AnyJob()> take) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  bool IsFull() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Throws if the machine refuses a thread or memory.
  void AddWorker(bool has_place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Body of the workers.
  void Work(Workers::iterator self) ABSL_LOCKS_EXCLUDED(mu_);
  // Runs the first job. REQUIRES: there is one. Releases the mutex meanwhile.
  void RunFirst(Worker* self) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Call(AnyJob* job) ABSL_LOCKS_EXCLUDED(mu_);

  // Body of the watcher: takes places away.
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // The worker that loses its place next; null: none, as things are.
  Worker* Slowest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives the place of `slowest` to a new thread, if there is one to be had. Releases the mutex
  // meanwhile.
  void Replace(Worker* slowest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Joins the workers that have ended.
  void JoinEnded() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits for all jobs, then joins.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

  const ThreadPoolOptions options_;
  Mutex mu_;
  CondVar changed_;  // there is a job, or the end has begun
  CondVar watch_;    // jobs may find no free place, or the end has begun
  CondVar done_;     // a job or a worker has ended
  Jobs jobs_ ABSL_GUARDED_BY(mu_);
  bool refuses_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;         // workers end when no job is left
  size_t running_ ABSL_GUARDED_BY(mu_) = 0;          // workers with a job
  TimePoint no_worker_before_ ABSL_GUARDED_BY(mu_);  // the machine had no thread or no memory
  Workers workers_ ABSL_GUARDED_BY(mu_);
  Workers ended_ ABSL_GUARDED_BY(mu_);  // to be joined
  std::thread watcher_;                 // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_THREADS_THREAD_POOL_H_
