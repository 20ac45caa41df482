// SPDX-License-Identifier: Apache-2.0
// Worker: a thread that runs tasks after a delay, in the order given. Thread-safe. Its destructor
// runs what is still waiting, without delay.
#ifndef NEREID_BACKENDS_TESTING_WORKER_H_
#define NEREID_BACKENDS_TESTING_WORKER_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace nereid_backend {

class Worker {
 public:
  Worker() = default;
  ~Worker();

  // Runs `task`, which must not throw, on the worker's thread `delay` after the task before it.
  // The thread starts with the first task.
  void Add(std::chrono::milliseconds delay, std::function<void()> task);

 private:
  struct Task {
    std::chrono::milliseconds delay;
    std::function<void()> run;
  };

  void Loop();

  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // guarded by mu_
  bool stopping_ = false;   // guarded by mu_
  std::thread thread_;      // guarded by mu_ until it runs
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TESTING_WORKER_H_
