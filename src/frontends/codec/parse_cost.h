// SPDX-License-Identifier: Apache-2.0
// ParseBudget: who pays for the memory that reading a JSON text takes, beyond the text and the
// result. A plain value.
#ifndef NEREID_FRONTENDS_CODEC_PARSE_COST_H_
#define NEREID_FRONTENDS_CODEC_PARSE_COST_H_

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "base/budget.h"

namespace nereid {

// Fast reader: four bytes for the position of each token, which may be one byte long, and a copy of
// the strings.
inline constexpr uint64_t kIndexCostPerByte = 6;
// A tree (json_parse.h): a value takes 16 bytes in the tree and as many on the stack from which the
// tree is built, which grows by half.
inline constexpr uint64_t kTreeCostPerValue = 40;
// Strings are copied by way of a buffer that grows likewise.
inline constexpr uint64_t kTreeCostPerStringByte = 4;

// Reading a shorter text needs so little memory that only the number of reading threads matters.
inline constexpr uint64_t kCheapParse = 64 << 10;

class ParseBudget {
 public:
  // `budget` (outlives the units) pays, on behalf of `holder`, who may be null.
  ParseBudget(Budget* budget, std::shared_ptr<Holder> holder)
      : budget_(budget), holder_(std::move(holder)) {}
  // Nobody pays, and a text of more than `bytes` is refused: for files and answers that whoever
  // runs the program chooses.
  static ParseBudget UpTo(uint64_t bytes) { return ParseBudget(bytes); }

  // Units for the `cost` bytes that reading a text of `size` bytes takes. Hold them until it has
  // been read, and its tree is gone. UNAVAILABLE, or INVALID_ARGUMENT for a text that is too long.
  absl::StatusOr<BudgetUnits> Take(uint64_t size, uint64_t cost) const {
    if (size > most_bytes_) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a JSON text of ", size, " bytes is too long: at most ", most_bytes_, " bytes are read"));
    }
    if (budget_ == nullptr || size <= kCheapParse) return BudgetUnits();
    return budget_->TakeFor(holder_, cost, ShareUse::kAdmission);
  }

 private:
  explicit ParseBudget(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  Budget* budget_ = nullptr;
  std::shared_ptr<Holder> holder_;
  uint64_t most_bytes_ = std::numeric_limits<uint64_t>::max();
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_PARSE_COST_H_
