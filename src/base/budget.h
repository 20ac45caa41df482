// Budget: a named amount of something limited (bytes, connections), handed out as units that give
// themselves back. Thread-safe and lock-free.
#ifndef NEREID_BASE_BUDGET_H_
#define NEREID_BASE_BUDGET_H_

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace nereid {

class Budget;

// A share of a Budget; returns it when destroyed. Owned by what the limit counts (a request, a
// response, a connection), so that no path can leak it. Thread-compatible, move-only.
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
  uint64_t amount() const { return amount_; }

 private:
  friend class Budget;
  BudgetUnits(Budget* budget, uint64_t amount) : budget_(budget), amount_(amount) {}
  Budget* budget_ = nullptr;
  uint64_t amount_ = 0;
};

class Budget {
 public:
  // `name` appears in the error of a refusal and in the gauge; `limit` 0 means unlimited.
  Budget(std::string name, uint64_t limit) : name_(std::move(name)), limit_(limit) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // UNAVAILABLE, naming the budget, when less than `amount` is left. One take that exceeds the
  // whole limit is refused the same way.
  absl::StatusOr<BudgetUnits> Take(uint64_t amount) {
    // Not added first and taken back: a large take that fails must not make a small one fail.
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (limit_ != 0 && (amount > limit_ || used > limit_ - amount)) {
        return absl::UnavailableError(absl::StrCat("server limit '", name_, "' of ", limit_,
                                                   " is exhausted: ", used, " in use and ", amount,
                                                   " more asked for; try again later"));
      }
    } while (!used_.compare_exchange_weak(used, used + amount, std::memory_order_relaxed));
    return BudgetUnits(this, amount);
  }

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_; }
  const std::string& name() const { return name_; }

 private:
  friend class BudgetUnits;
  const std::string name_;
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

inline void BudgetUnits::Return() {
  if (budget_ != nullptr) budget_->used_.fetch_sub(amount_, std::memory_order_relaxed);
  budget_ = nullptr;
  amount_ = 0;
}

}  // namespace nereid

#endif  // NEREID_BASE_BUDGET_H_
