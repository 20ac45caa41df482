// SPDX-License-Identifier: Apache-2.0
// Executor: a few threads for work that may block, with a queue of bounded length. Thread-safe.
#ifndef NEREID_BASE_EXECUTOR_H_
#define NEREID_BASE_EXECUTOR_H_

#include <absl/functional/any_invocable.h>

#include <cstddef>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace nereid {

class Executor {
 public:
  // Starts `threads` (at least 1) threads, shown by the system under `name`. Throws
  // std::system_error if no thread can be created. At most `queue_limit` jobs wait at a time.
  Executor(const std::string& name, int threads, size_t queue_limit);
  // Runs all queued jobs, then joins the threads.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Queues `job`, which is then certain to run; an exception that it throws is logged. Returns
  // false if the queue is full, and then the job is destroyed without having run. Never blocks.
  [[nodiscard]] bool TryRun(absl::AnyInvocable<void()> job) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mu_);
  // Ends and joins the threads that were started.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

  const size_t queue_limit_;
  Mutex mu_;
  CondVar changed_;
  std::deque<absl::AnyInvocable<void()>> jobs_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_EXECUTOR_H_
