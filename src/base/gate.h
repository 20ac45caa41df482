// SPDX-License-Identifier: Apache-2.0
// Gate: protects an object from being destroyed while it is in use. It counts the users inside, and
// reports when the last one has left a closed gate. Thread-safe, and without a lock: each call is
// one change of one word.
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
  // The right to be inside. A pass leaves the gate when it is destroyed or assigned to. The gate
  // outlives its passes. Thread-compatible.
  class [[nodiscard]] Pass {
   public:
    Pass() = default;  // belongs to no gate
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      // The old pass leaves here, and not at the end of `other`.
      if (Gate* const old = std::exchange(gate_, std::exchange(other.gate_, nullptr));
          old != nullptr) {
        old->Leave();
      }
      return *this;
    }
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave();
    }
    // False: the pass belongs to no gate; entry was refused.
    explicit operator bool() const { return gate_ != nullptr; }
    // Another pass of the same gate, even if the gate is closed. REQUIRES: this pass has a gate.
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

  // Like Enter, but also enters a closed gate as long as anybody is inside.
  Pass Join() {
    Pass pass;
    (void)EnterFairly(0, 0, /*join=*/true, &pass);
    return pass;
  }

  enum class Entry { kInside, kClosed, kFull };
  // Like Enter or, if `join`, like Join, but lets at most `limit` users inside at a time (0: no
  // limit). When few places are left, callers that already have many users inside are refused
  // first; `held` is how many the caller has (base/fair_share.h). If kInside, `*pass` has the pass.
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

  // Refuses entry from now on. `on_empty` runs once, as soon as nobody is inside: in this call, or
  // on the thread that ends the last pass. `on_empty` must not block. A second Close does nothing.
  void Close(std::function<void()> on_empty) {
    if (closing_.exchange(true, std::memory_order_relaxed)) return;
    on_empty_ = std::move(on_empty);
    // From here on the last user to leave sees on_empty_.
    if (state_.fetch_or(kClosed, std::memory_order_acq_rel) == 0) RunOnEmpty();
  }

  bool closed() const { return (state_.load(std::memory_order_acquire) & kClosed) != 0; }
  int64_t inside() const {
    return static_cast<int64_t>(state_.load(std::memory_order_acquire) & ~kClosed);
  }

 private:
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  void Leave() {
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) RunOnEmpty();
  }

  // Called by the one thread that has emptied the closed gate. Nobody can enter any more.
  void RunOnEmpty() {
    // The call may destroy the gate.
    const std::function<void()> on_empty = std::exchange(on_empty_, nullptr);
    if (on_empty) on_empty();
  }

  std::atomic<uint64_t> state_{0};  // the number of users inside, and kClosed
  std::atomic<bool> closing_{false};
  // Written by the thread that closes the gate, before kClosed is set; then used only by the thread
  // that empties the gate.
  std::function<void()> on_empty_;
};

}  // namespace nereid

#endif  // NEREID_BASE_GATE_H_
