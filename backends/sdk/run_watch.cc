// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/run_watch.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

// Servers without cancellation do not have these functions.
#pragma weak TRITONBACKEND_RequestIsCancelled
#pragma weak TRITONBACKEND_InferenceRequestTimeoutMicroseconds

namespace nereid_backend {
namespace {

// A run ends at the second check after its requests were given up, within 100 ms. Each check takes
// the core from a run, and costs it 30 us: every 10 ms, that would be 0.35 % of a slow run.
constexpr std::chrono::milliseconds kPeriod{50};
// Number of checks without any run after which the thread sleeps until there is one.
constexpr int kIdleLooks = 20;

uint64_t TimeoutNs(TRITONBACKEND_Request* request) {
  if (&TRITONBACKEND_InferenceRequestTimeoutMicroseconds == nullptr) return 0;
  uint64_t microseconds = 0;
  const Error ignored(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &microseconds));
  // A time-out of more than a hundred years counts as none.
  return microseconds > UINT64_MAX / 4000 ? 0 : microseconds * 1000;
}

}  // namespace

RunWatch::RunWatch(bool with_thread, Batch::Clock now) : now_(now) {
  if (!with_thread) return;
  thread_ = std::thread([this] { Loop(); });
  pthread_setname_np(thread_.native_handle(), "run watch");
}

RunWatch::~RunWatch() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool RunWatch::Poll() {
  const std::lock_guard<std::mutex> lock(mu_);
  const uint64_t now = now_();
  bool any = false;
  for (Watched* watched : watched_) any = watched->Look(now) || any;
  return any;
}

void RunWatch::Loop() {
  int idle = 0;
  while (true) {
    idle = Poll() ? 0 : idle + 1;
    std::unique_lock<std::mutex> lock(mu_);
    if (stopping_) return;
    if (idle < kIdleLooks) {
      changed_.wait_for(lock, kPeriod);
      continue;
    }
    asleep_ = true;
    lock.unlock();
    // A run that began just before asleep_ was set has not woken this thread; this check sees it.
    const bool any = Poll();
    lock.lock();
    if (any) asleep_ = false;
    changed_.wait(lock, [this] { return stopping_ || !asleep_; });
    idle = 0;
  }
}

void RunWatch::Wake() {
  if (!asleep_) return;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    asleep_ = false;
  }
  changed_.notify_all();
}

RunWatch::Watched::Watched(RunWatch* watch, bool late, std::function<void()> stop)
    : watch_(watch), late_(late), stop_(std::move(stop)) {
  const std::lock_guard<std::mutex> lock(watch_->mu_);
  watch_->watched_.push_back(this);
}

RunWatch::Watched::~Watched() {
  const std::lock_guard<std::mutex> lock(watch_->mu_);
  std::erase(watch_->watched_, this);
}

void RunWatch::Watched::Begin(std::span<TRITONBACKEND_Request* const> requests) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    requests_.clear();
    for (TRITONBACKEND_Request* request : requests) {
      const uint64_t timeout = late_ ? TimeoutNs(request) : 0;
      requests_.push_back({request, timeout == 0 ? 0 : watch_->now_() + timeout});
    }
    running_ = true;
    seen_ = false;
    stopped_ = false;
  }
  watch_->Wake();
}

bool RunWatch::Watched::End() {
  const std::lock_guard<std::mutex> lock(mu_);
  running_ = false;
  return stopped_;
}

bool RunWatch::Watched::IsWaitedFor(const Waiting& waiting, uint64_t now) {
  if (waiting.deadline != 0 && now > waiting.deadline) return false;
  if (&TRITONBACKEND_RequestIsCancelled == nullptr) return true;
  bool cancelled = false;
  const Error ignored(TRITONBACKEND_RequestIsCancelled(waiting.request, &cancelled));
  return !cancelled;
}

bool RunWatch::Watched::Look(uint64_t now) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (!running_) return false;
  // A run is only examined from the second check on: most runs end before that, and their requests
  // are never queried.
  if (!seen_ || stopped_) {
    seen_ = true;
    return true;
  }
  stopped_ = std::none_of(requests_.begin(), requests_.end(),
                          [&](const Waiting& waiting) { return IsWaitedFor(waiting, now); });
  if (stopped_) stop_();
  return true;
}

Error StoppedRun(const std::string& model) {
  return Error(TRITONSERVER_ERROR_CANCELLED,
               StrCat("model '", model,
                      "' was stopped while it computed: nobody waits for the result any more"));
}

}  // namespace nereid_backend
