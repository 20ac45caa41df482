// SPDX-License-Identifier: Apache-2.0
#include "python/native/call.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/sdk/ipc/futex.h"
#include "nereid/server.h"
#include "python/native/life.h"
#include "python/native/output_memory.h"

namespace nereid_python::native {

Call::Call(uint64_t limit) : generation_(Generation()), limit_(limit) {
  arrivals_.reserve(2);  // an answer and the final flag then need no memory when they come
}

Call::~Call() {
  if (generation_ != Generation()) {  // what the server knows belongs to the parent
    Forget();
    return;
  }
  for (size_t i = taken_; i < arrivals_.size(); ++i) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceResponseDelete(arrivals_[i].response));
  }
  if (future_ != nullptr) kept_.push_back(future_);
  DropLater(std::move(kept_));
}

void Call::Unref() {
  if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

CError Call::Issue(TRITONSERVER_Server* server, bool here) {
  refs_.fetch_add(1, std::memory_order_relaxed);
  CError error =
      RequestLife::Issue(here ? &NEREID_ServerInferInline : &TRITONSERVER_ServerInferAsync, server,
                         nullptr, {OutputAllocator()});
  if (error != nullptr) refs_.fetch_sub(1, std::memory_order_relaxed);  // no callback will come
  return error;
}

void Call::OnResponse(TRITONSERVER_InferenceResponse* response, bool final) {
  TRITONSERVER_InferenceResponse* unread = nullptr;
  std::unique_lock<std::mutex> lock(mu_);
  if (response != nullptr && (abandoned_ || answers_ >= limit_)) unread = response;
  if (response != nullptr) ++answers_;
  if (unread == nullptr && (response != nullptr || final)) arrivals_.push_back({response, final});
  Tell(std::move(lock));
  if (unread != nullptr) TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceResponseDelete(unread));
}

void Call::OnEnded() {
  {
    std::unique_lock<std::mutex> lock(mu_);
    ended_ = true;
    Tell(std::move(lock));
  }
  Unref();
}

void Call::Abandon() {
  std::vector<Arrival> unread;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    abandoned_ = true;
    waker_ = nullptr;
    unread.assign(arrivals_.begin() + static_cast<std::ptrdiff_t>(taken_), arrivals_.end());
    arrivals_.clear();
    taken_ = 0;
  }
  for (const Arrival& arrival : unread) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceResponseDelete(arrival.response));
  }
}

bool Call::Has(News news) const {
  if (ended_) return true;
  return news == News::kEach && taken_ < arrivals_.size();
}

void Call::Tell(std::unique_lock<std::mutex> lock) {
  const bool wake = sleepers_ > 0 && Has(sleepers_want_);
  if (wake) changes_.fetch_add(1, std::memory_order_relaxed);
  std::shared_ptr<Waker> waker;
  if (waker_ != nullptr && Has(future_wants_)) {
    waker = std::move(waker_);
    waker_ = nullptr;
    refs_.fetch_add(1, std::memory_order_relaxed);
  }
  lock.unlock();
  // The caller's reference keeps this alive.
  if (wake) nereid_ipc::FutexWakeAll(&changes_);
  if (waker != nullptr) waker->Add(this);
}

bool Call::Wait(News news, uint64_t nanoseconds) {
  uint32_t seen = 0;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    if (Has(news)) return true;
    if (sleepers_++ == 0 || news == News::kEach) sleepers_want_ = news;
    seen = changes_.load(std::memory_order_relaxed);
  }
  nereid_ipc::FutexWait(&changes_, seen, nanoseconds);
  const std::lock_guard<std::mutex> lock(mu_);
  --sleepers_;
  return Has(news);
}

bool Call::Take(Arrival* arrival) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (taken_ == arrivals_.size()) return false;
  *arrival = arrivals_[taken_++];
  if (taken_ == arrivals_.size()) {
    arrivals_.clear();
    taken_ = 0;
  }
  return true;
}

bool Call::ended() {
  const std::lock_guard<std::mutex> lock(mu_);
  return ended_ && taken_ == arrivals_.size();
}

uint64_t Call::answers() {
  const std::lock_guard<std::mutex> lock(mu_);
  return answers_;
}

bool Call::Arm(std::shared_ptr<Waker> waker, Ref future, News news) {
  Ref earlier(std::exchange(future_, future.release()));
  const std::lock_guard<std::mutex> lock(mu_);
  if (Has(news)) return false;
  waker_ = std::move(waker);
  future_wants_ = news;
  return true;
}

Ref Call::TakeFuture() { return Ref(std::exchange(future_, nullptr)); }

void Call::DropKept() {
  for (PyObject* object : std::exchange(kept_, {})) Py_DECREF(object);
  texts_.clear();
}

int WaitForNews(Call* call, Call::News news, double seconds) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  // Signals interrupt the sleep of the thread that gets them. This is how long a signal may go
  // unnoticed that came to another thread, or just before the sleep.
  constexpr Seconds kSlice(0.1);
  const Clock::time_point start = Clock::now();
  for (;;) {
    Seconds slice = kSlice;
    if (seconds >= 0) slice = std::min(slice, Seconds(seconds) - Seconds(Clock::now() - start));
    if (slice < Seconds(0)) return 0;
    bool there = false;
    {
      const Released released;
      // 0 would mean: for any time.
      there = call->Wait(news, static_cast<uint64_t>(slice.count() * 1e9) + 1);
    }
    if (there) return 1;
    if (PyErr_CheckSignals() != 0) return -1;
  }
}

}  // namespace nereid_python::native
