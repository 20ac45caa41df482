// SPDX-License-Identifier: Apache-2.0
// Budget: a named amount of something limited (bytes, connections), handed out as units that return
// themselves. Thread-safe and lock-free: taking and returning are one atomic operation each.
#ifndef NEREID_BASE_BUDGET_H_
#define NEREID_BASE_BUDGET_H_

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/fair_share.h"

namespace nereid {

class Budget;

// What one client holds of a budget by all of its requests together, whoever has the units. Made by
// what the client is known by, such as its connection; units that outlive that keep it alive.
// Thread-safe.
class Holder {
 public:
  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  uint64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  friend class BudgetUnits;
  std::atomic<uint64_t> held_{0};
};

// A share of a Budget, returned on destruction. Owned by the object that the limit counts (a
// request, a response, a connection), so that no path can leak it. Thread-compatible, move-only.
class BudgetUnits {
 public:
  BudgetUnits() = default;
  BudgetUnits(BudgetUnits&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)),
        amount_(std::exchange(other.amount_, 0)),
        holder_(std::move(other.holder_)) {}
  BudgetUnits& operator=(BudgetUnits&& other) noexcept {
    if (this != &other) {
      Return();
      budget_ = std::exchange(other.budget_, nullptr);
      amount_ = std::exchange(other.amount_, 0);
      holder_ = std::move(other.holder_);
    }
    return *this;
  }
  ~BudgetUnits() { Return(); }

  inline void Return();
  // Returns all but `amount`. REQUIRES: amount <= this->amount()
  inline void Keep(uint64_t amount);
  // Hands over `amount` of the units, or all if they are fewer.
  inline BudgetUnits Split(uint64_t amount);
  // Takes over `more`, which belongs to the same budget and the same holder, or is empty.
  inline void Add(BudgetUnits more);
  uint64_t amount() const { return amount_; }
  // Whose they are; null if nobody is known.
  const std::shared_ptr<Holder>& holder() const { return holder_; }

 private:
  friend class Budget;
  BudgetUnits(Budget* budget, uint64_t amount) : budget_(budget), amount_(amount) {}
  // Has `holder` hold them, too. REQUIRES: nobody does yet.
  void HoldFor(const std::shared_ptr<Holder>& holder) {
    if (holder == nullptr) return;
    holder->held_.fetch_add(amount_, std::memory_order_relaxed);
    holder_ = holder;
  }
  inline void GiveBack(uint64_t amount);

  Budget* budget_ = nullptr;
  uint64_t amount_ = 0;
  std::shared_ptr<Holder> holder_;
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

  // As TakeFairly, for a client of which `holder`, unless null, knows what it holds.
  absl::StatusOr<BudgetUnits> TakeFor(const std::shared_ptr<Holder>& holder, uint64_t amount,
                                      ShareUse use) {
    absl::StatusOr<BudgetUnits> units =
        TakeFairly(amount, holder == nullptr ? 0 : holder->held(), use);
    if (units.ok()) units->HoldFor(holder);
    return units;
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

inline void BudgetUnits::GiveBack(uint64_t amount) {
  if (amount == 0) return;
  if (budget_ != nullptr) budget_->used_.fetch_sub(amount, std::memory_order_relaxed);
  if (holder_ != nullptr) holder_->held_.fetch_sub(amount, std::memory_order_relaxed);
  amount_ -= amount;
}

inline void BudgetUnits::Return() {
  GiveBack(amount_);
  budget_ = nullptr;
  holder_ = nullptr;
}

inline void BudgetUnits::Keep(uint64_t amount) { GiveBack(amount_ - amount); }

inline BudgetUnits BudgetUnits::Split(uint64_t amount) {
  if (amount > amount_) amount = amount_;
  amount_ -= amount;
  BudgetUnits part(budget_, amount);
  part.holder_ = holder_;
  return part;
}

inline void BudgetUnits::Add(BudgetUnits more) {
  if (amount_ == 0) {
    *this = std::move(more);
  } else {
    assert(more.amount_ == 0 || more.holder_ == holder_);
    amount_ += std::exchange(more.amount_, 0);
  }
}

}  // namespace nereid

#endif  // NEREID_BASE_BUDGET_H_
