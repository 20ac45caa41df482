// SPDX-License-Identifier: Apache-2.0
#include "execution/device_thread.h"

#include <utility>

#include "base/threads/thread.h"

namespace nereid {

DeviceThread::DeviceThread(std::string name, absl::AnyInvocable<void()> before) {
  thread_ = StartThread({.name = std::move(name)}, [this, before = std::move(before)]() mutable {
    if (before) before();
    Work();
  });
}

DeviceThread::~DeviceThread() {
  {
    MutexLock lock(&mu_);
    ends_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void DeviceThread::Run(absl::FunctionRef<void()> job) {
  Job mine{job};
  MutexLock lock(&mu_);
  (first_ == nullptr ? first_ : last_->next) = &mine;
  last_ = &mine;
  changed_.NotifyAll();
  while (!mine.done) changed_.Wait(&mu_);
}

void DeviceThread::Work() {
  while (true) {
    Job* job = nullptr;
    {
      MutexLock lock(&mu_);
      while (first_ == nullptr && !ends_) changed_.Wait(&mu_);
      job = first_;
      if (job == nullptr) return;
      first_ = job->next;
    }
    job->call();
    MutexLock lock(&mu_);
    job->done = true;
    changed_.NotifyAll();
  }
}

}  // namespace nereid
