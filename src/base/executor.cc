// SPDX-License-Identifier: Apache-2.0
#include "base/executor.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/crash_context.h"
#include "base/log.h"

namespace nereid {

Executor::Executor(const std::string& name, int threads, size_t queue_limit)
    : queue_limit_(queue_limit) {
  // The kernel keeps 15 characters of a thread's name.
  const std::string short_name = name.substr(0, 15);
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { Work(); });
      pthread_setname_np(threads_.back().native_handle(), short_name.c_str());
    }
  } catch (...) {  // no thread available
    Join();
    throw;
  }
}

Executor::~Executor() { Join(); }

void Executor::Join() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

bool Executor::TryRun(absl::AnyInvocable<void()> job) {
  {
    MutexLock lock(&mu_);
    if (jobs_.size() >= queue_limit_) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.NotifyOne();
  return true;
}

void Executor::Work() {
  PrepareThreadForCrash();
  while (true) {
    absl::AnyInvocable<void()> job;
    {
      MutexLock lock(&mu_);
      while (jobs_.empty() && !closed_) changed_.Wait(&mu_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    try {
      job();
    } catch (const std::exception& e) {
      // The destruction of the job tells whoever waits for it.
      LOG_ERROR << "a job was given up: " << e.what();
    }
  }
}

}  // namespace nereid
