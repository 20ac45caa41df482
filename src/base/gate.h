// Gate: counts what is inside something that must not go away under it, and says when the last
// one has left after the gate was closed. Thread-safe.
//
// A model's lifetime door is a Gate: every request in flight holds a pass; Finalize runs when the
// gate is closed and empty.
#ifndef NEREID_BASE_GATE_H_
#define NEREID_BASE_GATE_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "base/fair_share.h"
#include "base/mutex.h"

namespace nereid {

class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // False once the gate is closed. Every true needs one Leave().
  [[nodiscard]] bool Enter() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (closed_) return false;
    ++inside_;
    return true;
  }

  enum class Entry { kInside, kClosed, kFull };
  // As Enter or, where `join`, as Join, but at most `limit` (0: any number) get inside at a time,
  // and of the last ones those first do not who have many inside: `held` (base/fair_share.h).
  [[nodiscard]] Entry EnterFairly(uint64_t limit, uint64_t held, bool join = false)
      ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (closed_ && (!join || inside_ == 0)) return Entry::kClosed;
    const auto inside = static_cast<uint64_t>(inside_);
    if (limit != 0 && !MayTake(limit, ShareUse::kAdmission, inside, 1, held)) return Entry::kFull;
    ++inside_;
    return Entry::kInside;
  }

  // As Enter, but also through a closed gate as long as anybody is inside.
  [[nodiscard]] bool Join() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (closed_ && inside_ == 0) return false;
    ++inside_;
    return true;
  }

  // Another pass for somebody who holds one. Needs a Leave(), too.
  void Share() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++inside_;
  }

  void Leave() ABSL_LOCKS_EXCLUDED(mu_) {
    std::function<void()> on_empty;
    {
      MutexLock lock(&mu_);
      if (--inside_ == 0 && closed_) on_empty = std::exchange(on_empty_, nullptr);
    }
    if (on_empty) on_empty();
  }

  // Lets nobody in any more. `on_empty` runs once, as soon as nobody is inside: here and now, or
  // in the Leave() of the last one. It must not block. A second Close does nothing.
  void Close(std::function<void()> on_empty) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(&mu_);
      if (closed_) return;
      closed_ = true;
      if (inside_ > 0) {
        on_empty_ = std::move(on_empty);
        return;
      }
    }
    if (on_empty) on_empty();
  }

  int64_t inside() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return inside_;
  }

 private:
  mutable Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t inside_ ABSL_GUARDED_BY(mu_) = 0;
  std::function<void()> on_empty_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BASE_GATE_H_
