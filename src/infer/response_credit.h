// SPDX-License-Identifier: Apache-2.0
// ResponseCredit: whether more responses of one request are wanted now. The receiver of the
// responses withdraws the credit while too many of them wait for its client, and gives it back when
// the client has taken enough. Sending never waits for it: whoever makes responses may ask, and
// waits on a thread of its own. Thread-safe.
//
// Made by the receiver, and shared with the request's response stream. A request without one has
// credit at all times.
#ifndef NEREID_INFER_RESPONSE_CREDIT_H_
#define NEREID_INFER_RESPONSE_CREDIT_H_

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

class NEREID_API ResponseCredit {
 public:
  // Bytes of answers that wait for one client, of all requests that share the account.
  using Account = std::atomic<uint64_t>;
  // Called once, on the thread that brings the credit or ends the wait, without any lock. Must not
  // block or throw, and should leave longer work to another thread: that thread may be an I/O
  // thread.
  using Waiter = absl::AnyInvocable<void()>;

  // The waiters that have to be called, by their owner and without a lock: at the latest when this
  // object is destroyed.
  class [[nodiscard]] Woken {
   public:
    Woken() = default;
    Woken(Woken&& other) noexcept : waiters_(std::exchange(other.waiters_, {})) {}
    Woken& operator=(Woken&& other) noexcept {
      Call();
      waiters_ = std::exchange(other.waiters_, {});
      return *this;
    }
    ~Woken() { Call(); }
    void Call() {
      for (Waiter& waiter : std::exchange(waiters_, {})) waiter();
    }
    // Takes over those of `other`.
    void Add(Woken other) {
      if (waiters_.empty()) {
        waiters_.swap(other.waiters_);
        return;
      }
      for (Waiter& waiter : other.waiters_) waiters_.push_back(std::move(waiter));
      other.waiters_.clear();
    }

   private:
    friend class ResponseCredit;
    std::vector<Waiter> waiters_;
  };

  // `most_bytes`: how much the receiver lets wait, for those who have to plan ahead.
  ResponseCredit(std::shared_ptr<Account> account, uint64_t most_bytes)
      : account_(std::move(account)), most_bytes_(most_bytes) {}
  ResponseCredit(const ResponseCredit&) = delete;
  ResponseCredit& operator=(const ResponseCredit&) = delete;
  // REQUIRES: nobody waits, or whoever waits need not be told.
  ~ResponseCredit() = default;

  // ---- The receiver. May be called under a lock of its own.
  void Withdraw() ABSL_LOCKS_EXCLUDED(mu_);
  Woken Give() ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Whoever knows that waiting has no point: the client has gone, the request has ended, or
  // its model does. From now on there is credit whatever the receiver says.
  Woken Waive() ABSL_LOCKS_EXCLUDED(mu_) {
    if (waived_.load(std::memory_order_acquire)) return {};
    return WaiveNow();
  }

  // ---- Senders.
  bool has_credit() const {
    return !full_.load(std::memory_order_acquire) || waived_.load(std::memory_order_acquire);
  }
  // Whether the receiver has withdrawn the credit, even if that was waived.
  bool full() const { return full_.load(std::memory_order_acquire); }
  // `waiter` is called as soon as there is credit: now if there is.
  void OnCredit(Waiter waiter) ABSL_LOCKS_EXCLUDED(mu_);

  uint64_t held() const { return account_->load(std::memory_order_relaxed); }
  const std::shared_ptr<Account>& account() const { return account_; }
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  Woken WaiveNow() ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<Account> account_;
  const uint64_t most_bytes_;
  std::atomic<bool> full_{false};    // changed under mu_
  std::atomic<bool> waived_{false};  // changed under mu_
  Mutex mu_;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mu_);  // empty while there is credit
};

// The error that ends a stream of responses whose sender goes on without credit until no memory is
// left for it. `id` may be empty.
NEREID_API absl::Status UnreadError(absl::string_view id, absl::string_view model, uint64_t held);

}  // namespace nereid

#endif  // NEREID_INFER_RESPONSE_CREDIT_H_
