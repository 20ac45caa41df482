// SPDX-License-Identifier: Apache-2.0
// Account: what one connection holds of the byte limit besides bodies and tensors: the heads of its
// open requests, a fixed cost for each of them, and the texts of answers until they are sent. Owned
// by the connection and used on its loop's thread.
//
// A connection is one client to the limit, so that the biggest is refused first: what pays for
// bodies, tensors and all else of its requests has the account's holder. The first kFreeBytes are
// part of what every connection costs anyhow, and the limit is asked only when a step is used up:
// an ordinary request costs two additions.
#ifndef NEREID_FRONTENDS_TRANSPORT_ACCOUNT_H_
#define NEREID_FRONTENDS_TRANSPORT_ACCOUNT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "base/budget.h"
#include "base/fair_share.h"

namespace nereid::transport {

class Account {
 public:
  static constexpr uint64_t kFreeBytes = 8 << 10;
  static constexpr uint64_t kStep = 16 << 10;

  // `budget` must outlive the account; null: everything is granted.
  explicit Account(Budget* budget) : budget_(budget) {}
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // Takes `bytes` more. UNAVAILABLE if the limit refuses them; nothing is taken then.
  absl::Status Take(uint64_t bytes, ShareUse use = ShareUse::kAdmission) {
    const uint64_t payable = Payable(used_ + bytes);
    if (budget_ != nullptr && payable > units_.amount()) {
      const uint64_t more = (payable - units_.amount() + kStep - 1) / kStep * kStep;
      auto units = budget_->TakeFor(holder_, more, use);
      if (!units.ok()) return units.status();
      units_.Add(*std::move(units));
    }
    used_ += bytes;
    return absl::OkStatus();
  }

  // Gives back `bytes` of what was taken. REQUIRES: bytes <= used()
  void Return(uint64_t bytes) {
    used_ -= bytes;
    const uint64_t payable = Payable(used_);
    if (payable == 0) {
      units_.Return();
    } else if (units_.amount() >= payable + 2 * kStep) {
      units_.Keep(payable);
    }
  }

  uint64_t used() const { return used_; }
  // The connection, as the one who holds units.
  const std::shared_ptr<Holder>& holder() const { return holder_; }

 private:
  static uint64_t Payable(uint64_t used) { return used <= kFreeBytes ? 0 : used - kFreeBytes; }

  Budget* const budget_;
  const std::shared_ptr<Holder> holder_ = std::make_shared<Holder>();
  uint64_t used_ = 0;
  BudgetUnits units_;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_ACCOUNT_H_
