// Gate: counts what is inside something that must not go away under it, and says when the last
// one has left after the gate was closed. Thread-safe, and without a lock: each call is one change
// of one word.
//
// A model's lifetime door is a Gate: every request in flight holds a pass; Finalize runs when the
// gate is closed and empty.
#ifndef NEREID_BASE_GATE_H_
#define NEREID_BASE_GATE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/fair_share.h"

namespace nereid {

class Gate {
 public:
  // The right to be inside. Leaves when it is destroyed or assigned to; the gate outlives it.
  // Thread-compatible.
  class [[nodiscard]] Pass {
   public:
    Pass() = default;  // of no gate
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      // The old one leaves here, and not whenever `other` goes.
      if (Gate* const old = std::exchange(gate_, std::exchange(other.gate_, nullptr));
          old != nullptr) {
        old->Leave();
      }
      return *this;
    }
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave();
    }
    // False: nobody got in.
    explicit operator bool() const { return gate_ != nullptr; }
    // One more for the same gate, also if that is closed. REQUIRES: this is of a gate.
    Pass Another() const {
      gate_->state_.fetch_add(1, std::memory_order_relaxed);
      return Pass(gate_);
    }

   private:
    friend class Gate;
    explicit Pass(Gate* gate) : gate_(gate) {}

    Gate* gate_ = nullptr;
  };

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // No pass once the gate is closed.
  Pass Enter() {
    Pass pass;
    (void)EnterFairly(0, 0, /*join=*/false, &pass);
    return pass;
  }

  // As Enter, but also through a closed gate as long as anybody is inside.
  Pass Join() {
    Pass pass;
    (void)EnterFairly(0, 0, /*join=*/true, &pass);
    return pass;
  }

  enum class Entry { kInside, kClosed, kFull };
  // As Enter or, where `join`, as Join, but at most `limit` (0: any number) get inside at a time,
  // and of the last ones those first do not who have many inside: `held` (base/fair_share.h). The
  // pass of kInside is in `*pass`.
  [[nodiscard]] Entry EnterFairly(uint64_t limit, uint64_t held, bool join, Pass* pass) {
    uint64_t state = state_.load(std::memory_order_acquire);
    do {
      const uint64_t inside = state & ~kClosed;
      if ((state & kClosed) != 0 && (!join || inside == 0)) return Entry::kClosed;
      if (limit != 0 && !MayTake(limit, ShareUse::kAdmission, inside, 1, held)) return Entry::kFull;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire));
    *pass = Pass(this);
    return Entry::kInside;
  }

  // Lets nobody in any more. `on_empty` runs once, as soon as nobody is inside: here and now, or
  // where the last pass ends. It must not block. A second Close does nothing.
  void Close(std::function<void()> on_empty) {
    if (closing_.exchange(true, std::memory_order_relaxed)) return;
    on_empty_ = std::move(on_empty);
    // From here on whoever leaves last sees the above.
    if (state_.fetch_or(kClosed, std::memory_order_acq_rel) == 0) RunOnEmpty();
  }

  int64_t inside() const {
    return static_cast<int64_t>(state_.load(std::memory_order_acquire) & ~kClosed);
  }

 private:
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  void Leave() {
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) RunOnEmpty();
  }

  // Of the one thread that has emptied the closed gate, which nobody can enter any more.
  void RunOnEmpty() {
    // The gate may go with the call.
    const std::function<void()> on_empty = std::exchange(on_empty_, nullptr);
    if (on_empty) on_empty();
  }

  std::atomic<uint64_t> state_{0};  // how many are inside, and kClosed
  std::atomic<bool> closing_{false};
  // Written by the one that closes the gate, before kClosed is set; then of the one that empties
  // it.
  std::function<void()> on_empty_;
};

}  // namespace nereid

#endif  // NEREID_BASE_GATE_H_
