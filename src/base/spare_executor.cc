// SPDX-License-Identifier: Apache-2.0
#include "base/spare_executor.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/crash_context.h"
#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {

SpareExecutor::SpareExecutor(SpareExecutorOptions options) : options_(std::move(options)) {
  // Created first: it may fail, and then no other thread may exist.
  watcher_ = std::thread([this] { Watch(); });
  pthread_setname_np(watcher_.native_handle(), options_.name.substr(0, 15).c_str());
  MutexLock lock(&mu_);
  for (int i = 0; i < options_.threads; ++i) AddWorker();
}

SpareExecutor::~SpareExecutor() {
  // Without a deadline, End cannot fail.
  static_cast<void>(End(TimePoint::max()));
}

bool SpareExecutor::AddWorker() {
  const size_t before = workers_.size();
  try {
    Worker* const worker = &workers_.emplace_back();
    worker->thread = std::thread([this, worker] { Work(worker); });
    pthread_setname_np(worker->thread.native_handle(), options_.name.substr(0, 15).c_str());
    return true;
  } catch (const std::exception&) {  // no thread, or no memory
    if (workers_.size() > before) workers_.pop_back();
    return false;
  }
}

bool SpareExecutor::Queue(absl::FunctionRef<AnyJob()> take) {
  bool all_busy = false;
  {
    MutexLock lock(&mu_);
    if (closed_ || jobs_.size() >= options_.queue_limit) return false;
    jobs_.push_back(take());
    all_busy = running_ == static_cast<int>(workers_.size());
  }
  changed_.NotifyOne();
  if (all_busy) watch_.NotifyAll();
  return true;
}

void SpareExecutor::Work(Worker* self) {
  PrepareThreadForCrash();
  if (options_.background) BecomeBackgroundThread();
  while (true) {
    AnyJob job;
    {
      MutexLock lock(&mu_);
      if (self->since.has_value()) {
        self->since.reset();
        --running_;
        if (closed_) idle_.NotifyAll();
      }
      while (jobs_.empty() && !closed_) changed_.Wait(&mu_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      self->since = options_.clock->Now();
      ++running_;
      if (!jobs_.empty()) watch_.NotifyAll();
    }
    try {
      job();
    } catch (const std::exception& e) {
      // The destruction of the job tells whoever waits for it.
      LOG_ERROR << options_.name << ": a job was given up: " << e.what();
    }
  }
}

std::optional<TimePoint> SpareExecutor::NextLate(TimePoint now, int* late) {
  std::optional<TimePoint> next;
  for (const Worker& worker : workers_) {
    if (!worker.since.has_value()) continue;
    const TimePoint at = *worker.since + options_.patience;
    if (at <= now) {
      ++*late;
    } else if (!next.has_value() || at < *next) {
      next = at;
    }
  }
  return next;
}

void SpareExecutor::Watch() {
  MutexLock lock(&mu_);
  while (!closed_) {
    const int present = static_cast<int>(workers_.size());
    if (jobs_.empty() || running_ < present || present >= options_.most_threads) {
      watch_.Wait(&mu_);
      continue;
    }
    int late = 0;
    std::optional<TimePoint> next = NextLate(options_.clock->Now(), &late);
    if (present - late < options_.threads) {
      if (AddWorker()) {
        mu_.Unlock();  // no lock is held while a line is logged
        LOG_WARNING << options_.name << ": a job takes long; one more thread works beside it";
        mu_.Lock();
        continue;
      }
      next = options_.clock->Now() + options_.patience;  // by then a thread may be available
    }
    options_.clock->Wait(&watch_, &mu_, next);
  }
}

bool SpareExecutor::End(TimePoint deadline) {
  std::deque<AnyJob> dropped;
  {
    MutexLock lock(&mu_);
    if (ended_) return true;
    closed_ = true;
    changed_.NotifyAll();
    watch_.NotifyAll();
    const std::optional<TimePoint> until =
        deadline == TimePoint::max() ? std::nullopt : std::make_optional(deadline);
    while ((running_ > 0 || !jobs_.empty()) && options_.clock->Now() < deadline) {
      options_.clock->Wait(&idle_, &mu_, until);
    }
    if (running_ > 0 || !jobs_.empty()) {
      jobs_.swap(dropped);
      return false;
    }
    ended_ = true;
  }
  watcher_.join();
  // No more workers are added.
  std::list<Worker*> workers;
  {
    MutexLock lock(&mu_);
    for (Worker& worker : workers_) workers.push_back(&worker);
  }
  for (Worker* worker : workers) worker->thread.join();
  return true;
}

}  // namespace nereid
