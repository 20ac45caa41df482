// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/worker.h"

#include <utility>

namespace nereid_backend {

Worker::~Worker() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Worker::Add(std::chrono::milliseconds delay, std::function<void()> task) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    tasks_.push_back(Task{delay, std::move(task)});
    if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  }
  changed_.notify_all();
}

void Worker::Loop() {
  std::unique_lock<std::mutex> lock(mu_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    changed_.wait_for(lock, task.delay, [this] { return stopping_; });
    lock.unlock();
    task.run();
    lock.lock();
  }
}

}  // namespace nereid_backend
