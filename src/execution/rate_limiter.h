// SPDX-License-Identifier: Apache-2.0
// RateLimiter: makes instances of all models wait for the resources that they need
// (--rate-limit=execution_count). The thin actor around ResourceLedger. Thread-safe. There is one
// per server, and it outlives the models.
#ifndef NEREID_EXECUTION_RATE_LIMITER_H_
#define NEREID_EXECUTION_RATE_LIMITER_H_

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "execution/resource_ledger.h"

namespace nereid {

class RateLimiter {
 public:
  // The place of one instance. Used by the instance's thread, except for Close, which is
  // thread-safe. The destructor gives back the resources that the seat holds.
  class Seat {
   public:
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    // Asks for the resources. True: the seat holds them; otherwise Await() them.
    bool Stage() ABSL_LOCKS_EXCLUDED(limiter_->mu_);
    // Blocks until the seat holds the resources. False if it is closed: then it holds none, and
    // gets none unless it asks again. REQUIRES: staged.
    bool Await() ABSL_LOCKS_EXCLUDED(limiter_->mu_);
    // Gives the resources back. `used`: a batch was executed with them.
    void Release(bool used) ABSL_LOCKS_EXCLUDED(limiter_->mu_);
    // Gives the resources back as used, and asks for them again before they are granted to another
    // seat: the first in turn of all waiting seats, including this one, gets them. True: this seat
    // holds them; otherwise Await() them.
    bool Restage() ABSL_LOCKS_EXCLUDED(limiter_->mu_);
    // From now on Await does not block.
    void Close() ABSL_LOCKS_EXCLUDED(limiter_->mu_);

   private:
    friend class RateLimiter;
    Seat(RateLimiter* limiter, ResourceLedger::Id id) : limiter_(limiter), id_(id) {}

    RateLimiter* const limiter_;
    const ResourceLedger::Id id_;
    CondVar changed_;
    bool granted_ = false;  // granted_ and closed_ are guarded by the limiter's mutex
    bool closed_ = false;
  };

  explicit RateLimiter(ResourceLimits limits) : ledger_(std::move(limits)) {}
  // REQUIRES: all seats are destroyed.
  ~RateLimiter() = default;
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Errors of ResourceLedger::Add.
  absl::StatusOr<std::unique_ptr<Seat>> Register(const InstanceSpec& instance)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Grants free resources, and wakes the threads whose seats got them.
  void Grant() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string StocksText() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  ResourceLedger ledger_ ABSL_GUARDED_BY(mu_);
  std::map<ResourceLedger::Id, Seat*> seats_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_RATE_LIMITER_H_
