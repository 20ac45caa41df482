// SPDX-License-Identifier: Apache-2.0
// CpuPermits: limits how many threads of the process compute for PyTorch at a time, over all
// models. OpenMP makes a team for each thread that calls it, so instances computing side by side
// would otherwise run more threads than there are CPUs. A run holds as many permits as it has
// threads, and waits until they are free. Thread-safe.
#ifndef NEREID_BACKENDS_PYTORCH_CPU_PERMITS_H_
#define NEREID_BACKENDS_PYTORCH_CPU_PERMITS_H_

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace nereid_backend {

class CpuPermits {
 public:
  // `total`: at least 1.
  explicit CpuPermits(int total) : total_(total), free_(total) {}
  CpuPermits(const CpuPermits&) = delete;
  CpuPermits& operator=(const CpuPermits&) = delete;

  int total() const { return total_; }

  // The permits of one run; a larger number than the total means all.
  class Held {
   public:
    // Blocks until the permits are free.
    Held(CpuPermits* permits, int count)
        : permits_(permits), count_(std::clamp(count, 1, permits->total_)) {
      permits_->Take(count_);
    }
    ~Held() { permits_->Give(count_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    CpuPermits* const permits_;
    const int count_;
  };

 private:
  struct Waiter {
    int count;
    std::condition_variable ready;
  };

  void Take(int count);
  void Give(int count);

  const int total_;
  std::mutex mu_;
  int free_;                     // guarded by mu_
  std::deque<Waiter*> waiting_;  // guarded by mu_; in order of arrival
  int overtakings_ = 0;          // guarded by mu_; how often the first waiter was overtaken
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_CPU_PERMITS_H_
