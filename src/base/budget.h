// SPDX-License-Identifier: Apache-2.0
// Budget: a named amount of something limited (bytes, connections), handed out as units that return
// themselves. Thread-safe and lock-free: taking and returning are one atomic operation each.
#ifndef NEREID_BASE_BUDGET_H_
#define NEREID_BASE_BUDGET_H_

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "base/fair_share.h"

namespace nereid {

class Budget;

// A share of a Budget, returned on destruction. Owned by the object that the limit counts (a
// request, a response, a connection), so that no path can leak it. Thread-compatible, move-only.
class BudgetUnits {
 public:
  BudgetUnits() = default;
  BudgetUnits(BudgetUnits&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), amount_(std::exchange(other.amount_, 0)) {}
  BudgetUnits& operator=(BudgetUnits&& other) noexcept {
    if (this != &other) {
      Return();
      budget_ = std::exchange(other.budget_, nullptr);
      amount_ = std::exchange(other.amount_, 0);
    }
    return *this;
  }
  ~BudgetUnits() { Return(); }

  inline void Return();
  // Returns all but `amount`. REQUIRES: amount <= this->amount()
  inline void Keep(uint64_t amount);
  // Hands over `amount` of the units, or all if they are fewer.
  inline BudgetUnits Split(uint64_t amount);
  // Takes over `more`, which belongs to the same budget or is empty.
  void Add(BudgetUnits more) {
    if (more.budget_ != nullptr) budget_ = std::exchange(more.budget_, nullptr);
    amount_ += std::exchange(more.amount_, 0);
  }
  uint64_t amount() const { return amount_; }

 private:
  friend class Budget;
  BudgetUnits(Budget* budget, uint64_t amount) : budget_(budget), amount_(amount) {}
  Budget* budget_ = nullptr;
  uint64_t amount_ = 0;
};

class Budget {
 public:
  // `name` and `option` (the option that sets the limit) appear in the error text of a refusal. A
  // `limit` of 0 means unlimited.
  Budget(std::string name, uint64_t limit, std::string option = "")
      : name_(std::move(name)), option_(std::move(option)), limit_(limit) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // UNAVAILABLE, naming the budget, when less than `amount` is left. A single take larger than the
  // whole limit is refused the same way.
  absl::StatusOr<BudgetUnits> Take(uint64_t amount) {
    return TakeIf(amount, 0, [this](uint64_t used, uint64_t wish) {
      return wish <= limit_ && used <= limit_ - wish;
    });
  }

  // As Take, but for one of many clients: the biggest holders are refused first
  // (base/fair_share.h). `held` is what this client (a connection or a stream) holds already.
  absl::StatusOr<BudgetUnits> TakeFairly(uint64_t amount, uint64_t held, ShareUse use) {
    return TakeIf(amount, held, [this, held, use](uint64_t used, uint64_t wish) {
      return MayTake(limit_, use, used, wish, held);
    });
  }

  // The most that one client can get while no other client holds anything.
  uint64_t most_for_one(ShareUse use) const {
    return limit_ == 0 ? UINT64_MAX : limit_ - KeptBack(limit_, use);
  }

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_; }
  const std::string& name() const { return name_; }
  // Empty if no option sets the limit.
  const std::string& option() const { return option_; }

 private:
  friend class BudgetUnits;

  template <typename May>
  absl::StatusOr<BudgetUnits> TakeIf(uint64_t amount, uint64_t held, const May& may) {
    // Check before adding: adding first and taking back would let a large take that fails make a
    // small one fail too.
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (limit_ != 0 && !may(used, amount)) return Refusal(used, amount, held);
    } while (!used_.compare_exchange_weak(used, used + amount, std::memory_order_relaxed));
    return BudgetUnits(this, amount);
  }

  absl::Status Refusal(uint64_t used, uint64_t amount, uint64_t held) const {
    return absl::UnavailableError(absl::StrCat(
        "server limit '", name_, "' of ", limit_, " is exhausted: ", used, " in use and ", amount,
        " more asked for", held > 0 ? absl::StrCat(" by a client that holds ", held) : "",
        "; try again later", option_.empty() ? "" : absl::StrCat(" or raise ", option_)));
  }

  const std::string name_;
  const std::string option_;
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

inline void BudgetUnits::Return() {
  if (budget_ != nullptr) budget_->used_.fetch_sub(amount_, std::memory_order_relaxed);
  budget_ = nullptr;
  amount_ = 0;
}

inline BudgetUnits BudgetUnits::Split(uint64_t amount) {
  if (amount > amount_) amount = amount_;
  amount_ -= amount;
  return BudgetUnits(budget_, amount);
}

inline void BudgetUnits::Keep(uint64_t amount) {
  if (budget_ != nullptr) budget_->used_.fetch_sub(amount_ - amount, std::memory_order_relaxed);
  amount_ = amount;
}

}  // namespace nereid

#endif  // NEREID_BASE_BUDGET_H_
