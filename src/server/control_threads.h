// ControlThreads: threads for requests that load and unload models, which may take minutes: one for
// each, because one that hangs must not hold up the next. Thread-safe. Owned by the server.
#ifndef NEREID_SERVER_CONTROL_THREADS_H_
#define NEREID_SERVER_CONTROL_THREADS_H_

#include <functional>

#include "base/mutex.h"

namespace nereid {

class ControlThreads {
 public:
  // Requests at a time.
  static constexpr int kLimit = 256;

  ControlThreads() = default;
  // Waits for all of them.
  ~ControlThreads();
  ControlThreads(const ControlThreads&) = delete;
  ControlThreads& operator=(const ControlThreads&) = delete;

  // Runs `job` on a new thread. False if there are too many, or the machine has no more: it will
  // not run. Never blocks.
  [[nodiscard]] bool TryRun(std::function<void()> job) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void End() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar ended_;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_SERVER_CONTROL_THREADS_H_
