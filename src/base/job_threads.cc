// SPDX-License-Identifier: Apache-2.0
#include "base/job_threads.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/crash_context.h"
#include "base/log.h"

namespace nereid {

JobThreads::~JobThreads() {
  std::list<Running> ended;
  {
    MutexLock lock(&mu_);
    while (!running_.empty()) changed_.Wait(&mu_);
    ended.swap(ended_);
  }
  for (Running& one : ended) one.thread.join();
}

bool JobThreads::TryRun(std::function<void()>* job, bool* too_many) {
  std::list<Running> ended;
  bool runs = false;
  {
    MutexLock lock(&mu_);
    ended.swap(ended_);
    const bool full = running_.size() >= limit_;
    if (too_many != nullptr) *too_many = full;
    runs = !full && Start(job);
  }
  // These threads have finished their jobs and only have to return.
  for (Running& one : ended) one.thread.join();
  return runs;
}

bool JobThreads::Start(std::function<void()>* job) {
  const size_t before = running_.size();
  try {
    running_.emplace_front();
    const Place place = running_.begin();
    place->thread = std::thread([this, place] { Work(place); });
    // The thread sees the job, because it takes the mutex first.
    place->job.swap(*job);
    return true;
  } catch (const std::exception&) {  // no thread, or no memory
    if (running_.size() > before) running_.pop_front();
    return false;
  }
}

void JobThreads::Work(Place self) {
  // The kernel keeps 15 characters of a thread's name.
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  PrepareThreadForCrash();
  std::function<void()> job;
  {
    MutexLock lock(&mu_);
    job.swap(self->job);
  }
  try {
    job();
  } catch (const std::exception& e) {
    // The destruction of the job tells whoever waits for it.
    LOG_ERROR << name_ << ": a job was given up: " << e.what();
  }
  job = nullptr;
  MutexLock lock(&mu_);
  ended_.splice(ended_.begin(), running_, self);
  changed_.NotifyAll();  // under the lock: the destructor may be waiting
}

}  // namespace nereid
