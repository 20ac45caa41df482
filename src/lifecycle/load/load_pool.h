// SPDX-License-Identifier: Apache-2.0
// LoadPool: the threads that load models. Requests never pass through it. Thread-safe.
//
// A task that takes very long, perhaps forever, loses its place: if other tasks wait, a new thread
// takes over the place. So one model that hangs does not keep other models from being loaded.
#ifndef NEREID_LIFECYCLE_LOAD_LOAD_POOL_H_
#define NEREID_LIFECYCLE_LOAD_LOAD_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class LoadPool {
 public:
  // How long a task keeps its place while other tasks wait.
  static constexpr Duration kPatience = std::chrono::seconds(30);

  // `clock` outlives this.
  LoadPool(uint32_t threads, Clock* clock);
  // Runs the queued tasks, then joins.
  ~LoadPool();
  LoadPool(const LoadPool&) = delete;
  LoadPool& operator=(const LoadPool&) = delete;

  // A task that throws must first have told its waiters. Throws when memory is exhausted; then the
  // task does not run.
  void Run(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Worker {
    std::thread thread;
    std::optional<TimePoint> since;  // start of the running task
    bool replaced = false;           // the worker ends after its task
  };

  // Runs the queued tasks, then joins.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  void Work(Worker* self) ABSL_LOCKS_EXCLUDED(mu_);
  // Replaces workers whose tasks take too long.
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // Throws if the machine refuses a thread.
  void AddWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The worker whose task has run longest; null if no worker runs a task.
  Worker* Slowest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  Mutex mu_;
  CondVar changed_;  // a new task, or closing
  CondVar watch_;    // tasks wait, or closing
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::list<Worker> workers_ ABSL_GUARDED_BY(mu_);
  std::thread watcher_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_LOAD_POOL_H_
