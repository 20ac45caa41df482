// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread_pool.h"

#include <algorithm>
#include <exception>

#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {

ThreadPool::ThreadPool(ThreadPoolOptions options) : options_(std::move(options)) {
  try {
    if (options_.threads > 0 && options_.most_threads > options_.threads) {
      watcher_ = StartThread({.name = options_.name}, [this] { Watch(); });
    }
    MutexLock lock(&mu_);
    for (int i = 0; i < options_.threads; ++i) AddWorker(/*has_place=*/true);
  } catch (...) {  // the threads that were started must not outlive the pool
    Close();
    throw;
  }
}

ThreadPool::~ThreadPool() { Close(); }

// ---- Jobs

bool ThreadPool::IsFull() const {
  if (options_.threads == 0) return workers_.size() >= static_cast<size_t>(options_.most_threads);
  return jobs_.size() >= options_.queue_limit;
}

bool ThreadPool::Accept(absl::FunctionRef<AnyJob()> take) noexcept try {
  if (options_.threads == 0) JoinEnded();  // they only have to return
  Jobs job(1);
  {
    MutexLock lock(&mu_);
    if (refuses_ || IsFull()) return false;
    // It waits for the mutex. Should `take` throw, it finds no job and ends.
    if (options_.threads == 0) AddWorker(/*has_place=*/false);
    job.front() = take();
    jobs_.splice(jobs_.end(), job);
    if (Slowest() != nullptr) watch_.NotifyAll();
  }
  changed_.NotifyOne();
  return true;
} catch (const std::exception&) {  // no thread, or no memory
  return false;
}

bool ThreadPool::End(TimePoint deadline) {
  Jobs dropped;
  {
    MutexLock lock(&mu_);
    refuses_ = true;
    closed_ = true;
    changed_.NotifyAll();
    watch_.NotifyAll();
    const std::optional<TimePoint> until =
        deadline == TimePoint::max() ? std::nullopt : std::make_optional(deadline);
    while ((running_ > 0 || !jobs_.empty()) && options_.clock->Now() < deadline) {
      options_.clock->Wait(&done_, &mu_, until);
    }
    if (running_ > 0 || !jobs_.empty()) {
      jobs_.swap(dropped);
      return false;
    }
  }
  Close();
  return true;
}

void ThreadPool::Close() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
    changed_.NotifyAll();
    watch_.NotifyAll();
    while (!workers_.empty()) done_.Wait(&mu_);
  }
  if (watcher_.joinable()) watcher_.join();
  JoinEnded();
}

void ThreadPool::JoinEnded() {
  Workers ended;
  {
    MutexLock lock(&mu_);
    ended.swap(ended_);
  }
  for (Worker& worker : ended) worker.thread.join();
}

// ---- Workers

void ThreadPool::AddWorker(bool has_place) {
  Workers one(1);
  const Workers::iterator self = one.begin();
  self->has_place = has_place;
  self->thread = StartThread({.name = options_.name, .background = options_.background},
                             [this, self] { Work(self); });
  workers_.splice(workers_.end(), one);
}

void ThreadPool::Work(Workers::iterator self) {
  MutexLock lock(&mu_);
  do {
    while (jobs_.empty() && !closed_ && self->has_place) changed_.Wait(&mu_);
    if (jobs_.empty()) break;
    RunFirst(&*self);
  } while (self->has_place || closed_);  // at the end, each helps with what is left
  ended_.splice(ended_.end(), workers_, self);
  done_.NotifyAll();
  if (Slowest() != nullptr) watch_.NotifyAll();  // one more thread may be started
}

void ThreadPool::RunFirst(Worker* self) {
  Jobs job;
  job.splice(job.end(), jobs_, jobs_.begin());
  self->since = options_.clock->Now();
  ++running_;
  if (Slowest() != nullptr) watch_.NotifyAll();
  mu_.Unlock();
  Call(&job.front());
  job.clear();  // its destructor counts as part of it
  mu_.Lock();
  --running_;
  self->since.reset();
  if (closed_) done_.NotifyAll();
}

void ThreadPool::Call(AnyJob* job) {
  try {
    (*job)();
  } catch (const std::exception& e) {
    // The destruction of the job tells whoever waits for it.
    LOG_ERROR << options_.name << ": a job was given up: " << e.what();
  }
}

// ---- Watcher

ThreadPool::Worker* ThreadPool::Slowest() {
  const bool all_busy = !jobs_.empty() && running_ == workers_.size();
  if (!all_busy || workers_.size() >= static_cast<size_t>(options_.most_threads)) return nullptr;
  Worker* slowest = nullptr;
  for (Worker& worker : workers_) {
    if (!worker.has_place || !worker.since.has_value()) continue;
    if (slowest == nullptr || *worker.since < *slowest->since) slowest = &worker;
  }
  return slowest;
}

void ThreadPool::Watch() {
  MutexLock lock(&mu_);
  while (!closed_) {
    Worker* const slowest = Slowest();
    if (slowest == nullptr) {
      watch_.Wait(&mu_);
      continue;
    }
    const TimePoint due = std::max(*slowest->since + options_.patience, no_worker_before_);
    if (options_.clock->Now() < due) {
      options_.clock->Wait(&watch_, &mu_, due);
    } else {
      Replace(slowest);
    }
  }
}

void ThreadPool::Replace(Worker* slowest) {
  bool replaced = false;
  try {
    AddWorker(/*has_place=*/true);
    slowest->has_place = false;
    replaced = true;
  } catch (const std::exception&) {  // by then there may be a thread
    no_worker_before_ = options_.clock->Now() + options_.patience;
  }
  mu_.Unlock();  // no lock is held while a line is logged or a thread is joined
  if (replaced) {
    LOG_WARNING << options_.name << ": a job takes long; others run beside it";
  } else {
    LOG_WARNING << options_.name << ": a job takes long, and others have to wait: there is no "
                << "memory or no thread to run them beside it";
  }
  JoinEnded();
  mu_.Lock();
}

}  // namespace nereid
