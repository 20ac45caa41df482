// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/load/load_pool.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/crash_context.h"
#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {

LoadPool::LoadPool(uint32_t threads, Clock* clock) : clock_(clock) {
  try {
    MutexLock lock(&mu_);
    for (uint32_t i = 0; i < threads; ++i) AddWorker();
    watcher_ = std::thread([this] { Watch(); });
  } catch (...) {  // the threads that were started must not outlive this object
    Close();
    throw;
  }
}

LoadPool::~LoadPool() { Close(); }

void LoadPool::Close() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  watch_.NotifyAll();
  if (watcher_.joinable()) watcher_.join();
  // No workers are added any more: the watcher has ended.
  std::list<Worker*> workers;
  {
    MutexLock lock(&mu_);
    for (Worker& worker : workers_) workers.push_back(&worker);
  }
  for (Worker* worker : workers) worker->thread.join();
}

void LoadPool::AddWorker() {
  Worker* const worker = &workers_.emplace_back();
  try {
    worker->thread = std::thread([this, worker] { Work(worker); });
  } catch (...) {
    workers_.pop_back();
    throw;
  }
}

void LoadPool::Run(std::function<void()> task) {
  {
    MutexLock lock(&mu_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
  watch_.NotifyAll();
}

void LoadPool::Work(Worker* self) {
  pthread_setname_np(pthread_self(), "model loading");
  BecomeBackgroundThread();
  PrepareThreadForCrash();
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(&mu_);
      self->since.reset();
      if (self->replaced) return;
      while (tasks_.empty() && !closed_) changed_.Wait(&mu_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      self->since = clock_->Now();
      if (!tasks_.empty()) watch_.NotifyAll();
    }
    try {
      task();
    } catch (const std::exception& e) {
      // No report is needed here: the objects that the task owns report the failure when they are
      // destroyed.
      LOG_ERROR << "a load was given up: " << e.what();
    }
    task = nullptr;  // here, so that its destructor counts as part of the task's time
  }
}

LoadPool::Worker* LoadPool::Slowest() {
  Worker* slowest = nullptr;
  for (Worker& worker : workers_) {
    if (!worker.since.has_value() || worker.replaced) continue;
    if (slowest == nullptr || *worker.since < *slowest->since) slowest = &worker;
  }
  return slowest;
}

void LoadPool::Watch() {
  MutexLock lock(&mu_);
  while (!closed_) {
    Worker* const slowest = tasks_.empty() ? nullptr : Slowest();
    if (slowest == nullptr) {
      watch_.Wait(&mu_);
      continue;
    }
    const TimePoint deadline = *slowest->since + kPatience;
    if (clock_->Now() < deadline) {
      clock_->Wait(&watch_, &mu_, deadline);
      continue;
    }
    try {
      AddWorker();
      slowest->replaced = true;
    } catch (const std::exception&) {  // tries again later
      slowest->since = clock_->Now();
    }
    const bool added = slowest->replaced;
    mu_.Unlock();  // no lock is held while a line is logged
    if (added) {
      LOG_WARNING << "a model takes long to load: others are loaded beside it";
    } else {
      LOG_WARNING << "a model takes long to load, and others have to wait: there is no memory or "
                     "no thread to load them beside it";
    }
    mu_.Lock();
  }
}

}  // namespace nereid
