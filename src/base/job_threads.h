// JobThreads: a new thread for each job, for jobs that may take minutes or for ever: one that hangs
// holds up no other. Thread-safe. The threads are joined, not detached: when the destructor has
// returned, none of them runs code of ours any more, so that the library may be unmapped.
#ifndef NEREID_BASE_JOB_THREADS_H_
#define NEREID_BASE_JOB_THREADS_H_

#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace nereid {

class JobThreads {
 public:
  // At most `limit` jobs at a time. The system lists the threads under `name`.
  JobThreads(std::string name, size_t limit) : name_(std::move(name)), limit_(limit) {}
  // Waits for all jobs.
  ~JobThreads();
  JobThreads(const JobThreads&) = delete;
  JobThreads& operator=(const JobThreads&) = delete;

  // Runs `*job` on a new thread, and takes it; if it throws that is logged. False if there are too
  // many, which `too_many` (null: nobody) is told, or the machine has no more threads or memory:
  // then the job stays with the caller. Never waits for a job.
  [[nodiscard]] bool TryRun(std::function<void()>* job, bool* too_many = nullptr)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Running {
    std::function<void()> job;
    std::thread thread;
  };
  using Place = std::list<Running>::iterator;

  bool Start(std::function<void()>* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Work(Place self) ABSL_LOCKS_EXCLUDED(mu_);

  const std::string name_;
  const size_t limit_;
  Mutex mu_;
  CondVar changed_;
  std::list<Running> running_ ABSL_GUARDED_BY(mu_);
  std::list<Running> ended_ ABSL_GUARDED_BY(mu_);  // to be joined
};

}  // namespace nereid

#endif  // NEREID_BASE_JOB_THREADS_H_
