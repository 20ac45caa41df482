// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/reaper.h"

#include <exception>
#include <utility>

#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {

Reaper::Reaper() : thread_(StartThread({.name = "model reaper"}, [this] { Work(); })) {}

Reaper::~Reaper() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Reaper::Run(Job job) noexcept {
  MutexLock lock(&mu_);
  jobs_.splice(jobs_.end(), job);
  changed_.NotifyAll();  // with the lock held: the job's end may let another thread destroy this
}

void Reaper::Work() {
  while (true) {
    Job job;
    {
      MutexLock lock(&mu_);
      while (jobs_.empty() && !closed_) changed_.Wait(&mu_);
      if (jobs_.empty()) return;
      job.splice(job.begin(), jobs_, jobs_.begin());
    }
    if (threads_.TryRun(std::move(job.front()))) continue;
    try {
      job.front()();
    } catch (const std::exception& e) {
      LOG_ERROR << "the end of a model was given up: " << e.what();
    }
  }
}

}  // namespace nereid
