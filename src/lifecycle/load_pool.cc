#include "lifecycle/load_pool.h"

#include <utility>

namespace nereid {

LoadPool::LoadPool(uint32_t threads) {
  for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

LoadPool::~LoadPool() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void LoadPool::Run(std::function<void()> task) {
  {
    MutexLock lock(&mu_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
}

void LoadPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(&mu_);
      while (tasks_.empty() && !closed_) changed_.Wait(&mu_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace nereid
