// SPDX-License-Identifier: Apache-2.0
// ReadMostly<T>: a value that many threads read and few replace. Thread-safe.
//
// A reader that has already seen the current value pays one atomic load, because each thread keeps
// the value it read last. A thread may therefore keep an old value alive until it reads again or
// ends, so a value must own nothing whose end anybody waits for. No value is destroyed while this
// class holds a lock.
#ifndef NEREID_BASE_READ_MOSTLY_H_
#define NEREID_BASE_READ_MOSTLY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

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
      Cached current = Read();
      std::swap(current, cached);  // the old value is destroyed here, outside the lock
    }
    return cached.value.get();
  }

  // Returns the replaced value, so that the caller can drop it without holding a lock.
  [[nodiscard]] std::shared_ptr<const T> Set(std::shared_ptr<const T> value)
      ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    value_.swap(value);
    generation_.fetch_add(1, std::memory_order_release);
    return value;
  }

 private:
  struct Cached {
    uint64_t id = 0;
    uint64_t generation = 0;
    std::shared_ptr<const T> value;
  };

  Cached Read() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return {id_, generation_.load(std::memory_order_relaxed), value_};
  }

  static uint64_t NextId() {
    static std::atomic<uint64_t> next{1};
    return next.fetch_add(1);
  }

  const uint64_t id_;  // distinguishes the caches of objects, even at a reused address
  std::atomic<uint64_t> generation_{0};
  mutable Mutex mu_;
  std::shared_ptr<const T> value_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BASE_READ_MOSTLY_H_
