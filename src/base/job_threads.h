// SPDX-License-Identifier: Apache-2.0
// JobThreads: a new thread per job, for jobs that may take minutes or hang forever; one that hangs
// delays no other. Thread-safe. The threads are joined, not detached: once the destructor has
// returned, none of them runs our code, so the library may be unmapped.
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
  // At most `limit` jobs at a time. The system shows the threads under `name`.
  JobThreads(std::string name, size_t limit) : name_(std::move(name)), limit_(limit) {}
  // Waits for all jobs.
  ~JobThreads();
  JobThreads(const JobThreads&) = delete;
  JobThreads& operator=(const JobThreads&) = delete;

  // Takes `*job` and runs it on a new thread; an exception that it throws is logged. Returns false,
  // and leaves the job with the caller, if too many jobs are running (`too_many`, unless null, is
  // then set) or if the machine has no more threads or memory. Never waits for a job.
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
