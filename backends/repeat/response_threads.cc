#include "backends/repeat/response_threads.h"

#include <utility>

namespace nereid_backend {

ResponseThreads::~ResponseThreads() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ResponseThreads::Start(std::function<void()> body) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    // A new thread counts as idle until it takes its work.
    if (waiting_.size() == idle_) {
      threads_.emplace_back([this] { Loop(); });
      ++idle_;
    }
    waiting_.push_back(std::move(body));
  }
  changed_.notify_one();
}

void ResponseThreads::Loop() {
  std::unique_lock<std::mutex> lock(mu_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> body = std::move(waiting_.front());
    waiting_.pop_front();
    --idle_;
    lock.unlock();
    body();
    lock.lock();
    ++idle_;
  }
}

}  // namespace nereid_backend
