// LoadPool: the threads that load models; never on the way of a request. Thread-safe.
//
// A task that takes very long, perhaps for ever, loses its place: when others wait, a new thread
// takes it, so that one model that hangs does not keep the others from being loaded.
#ifndef NEREID_LIFECYCLE_LOAD_POOL_H_
#define NEREID_LIFECYCLE_LOAD_POOL_H_

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
  // How long a task keeps its place while others wait.
  static constexpr Duration kPatience = std::chrono::seconds(30);

  // `clock` outlives this.
  LoadPool(uint32_t threads, Clock* clock);
  // Runs what is queued, then joins.
  ~LoadPool();
  LoadPool(const LoadPool&) = delete;
  LoadPool& operator=(const LoadPool&) = delete;

  // A task that throws has to have told whoever waits for it. Throws where there is no memory; the
  // task does not run then.
  void Run(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Worker {
    std::thread thread;
    std::optional<TimePoint> since;  // of the task that it runs
    bool replaced = false;           // ends after its task
  };

  // Runs what is queued, then joins.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  void Work(Worker* self) ABSL_LOCKS_EXCLUDED(mu_);
  // Looks after tasks that take too long.
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // Throws where the machine refuses a thread.
  void AddWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The worker whose task has run for the longest time; null if none runs one.
  Worker* Slowest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  Mutex mu_;
  CondVar changed_;  // a task, or the end
  CondVar watch_;    // tasks wait, or the end
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::list<Worker> workers_ ABSL_GUARDED_BY(mu_);
  std::thread watcher_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_POOL_H_
