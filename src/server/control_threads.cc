#include "server/control_threads.h"

#include <system_error>
#include <thread>
#include <utility>

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
