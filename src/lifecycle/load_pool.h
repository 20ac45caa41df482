// LoadPool: the threads that load models; never on the way of a request. Thread-safe.
#ifndef NEREID_LIFECYCLE_LOAD_POOL_H_
#define NEREID_LIFECYCLE_LOAD_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace nereid {

class LoadPool {
 public:
  explicit LoadPool(uint32_t threads);
  // Runs what is queued, then joins.
  ~LoadPool();

  void Run(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_POOL_H_
