// SPDX-License-Identifier: Apache-2.0
// Memory of the texts that are sent as answers, charged to the budget before and after they are
// made. Pure functions except for the budget, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CHARGED_TEXT_H_
#define NEREID_FRONTENDS_HTTP_CHARGED_TEXT_H_

#include <absl/status/status.h>

#include <cstdint>

#include "base/budget.h"

namespace nereid {

// A shorter text counts as part of its connection's cost.
inline constexpr uint64_t kUnchargedText = 4096;

// Makes `units` of `holder` pay for a text of `size` bytes, whatever they paid for before.
// UNAVAILABLE if `budget` refuses; `units` are then unchanged.
inline absl::Status ChargeText(Budget* budget, const std::shared_ptr<Holder>& holder, uint64_t size,
                               BudgetUnits* units) {
  if (size <= kUnchargedText) size = 0;
  if (size <= units->amount()) {
    units->Keep(size);
    return absl::OkStatus();
  }
  auto more = budget->TakeFor(holder, size - units->amount(), ShareUse::kAnswer);
  if (!more.ok()) return more.status();
  units->Add(*std::move(more));
  return absl::OkStatus();
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CHARGED_TEXT_H_
