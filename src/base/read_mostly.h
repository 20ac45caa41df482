// ReadMostly<T>: a value that many threads read and few replace. Thread-safe.
//
// A reader that has seen the current value before pays one atomic load: each thread keeps the
// value it read last. It may so keep an old value alive until it reads again.
#ifndef NEREID_BASE_READ_MOSTLY_H_
#define NEREID_BASE_READ_MOSTLY_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace nereid {

template <typename T>
class ReadMostly {
 public:
  explicit ReadMostly(std::shared_ptr<const T> value) : id_(NextId()), value_(std::move(value)) {}

  // The current value; never null. Valid until this thread calls Get again, on any ReadMostly<T>.
  const T* Get() const ABSL_LOCKS_EXCLUDED(mu_) {
    thread_local Cached cached;
    if (cached.id != id_ || cached.generation != generation_.load(std::memory_order_acquire)) {
      MutexLock lock(&mu_);
      cached = {id_, generation_.load(std::memory_order_relaxed), value_};
    }
    return cached.value.get();
  }

  void Set(std::shared_ptr<const T> value) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    value_.swap(value);
    generation_.fetch_add(1, std::memory_order_release);
  }

 private:
  struct Cached {
    uint64_t id = 0;
    uint64_t generation = 0;
    std::shared_ptr<const T> value;
  };

  static uint64_t NextId() {
    static std::atomic<uint64_t> next{1};
    return next.fetch_add(1);
  }

  const uint64_t id_;  // tells the caches of different objects apart, also at a reused address
  std::atomic<uint64_t> generation_{0};
  mutable Mutex mu_;
  std::shared_ptr<const T> value_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BASE_READ_MOSTLY_H_
