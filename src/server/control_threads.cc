#include "server/control_threads.h"

#include <pthread.h>

#include <system_error>
#include <thread>
#include <utility>

#include "base/background_thread.h"

namespace nereid {

ControlThreads::~ControlThreads() {
  MutexLock lock(&mu_);
  while (running_ > 0) ended_.Wait(&mu_);
}

void ControlThreads::End() {
  MutexLock lock(&mu_);
  --running_;
  ended_.NotifyAll();  // under the lock: the destructor may be waiting
}

bool ControlThreads::TryRun(std::function<void()> job) {
  {
    MutexLock lock(&mu_);
    if (running_ >= kLimit) return false;
    ++running_;
  }
  try {
    std::thread([this, job = std::move(job)]() mutable {
      pthread_setname_np(pthread_self(), "model control");
      BecomeBackgroundThread();
      job();
      job = nullptr;
      End();
    }).detach();
  } catch (const std::system_error&) {
    End();
    return false;
  }
  return true;
}

}  // namespace nereid
