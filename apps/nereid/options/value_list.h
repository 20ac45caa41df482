// SPDX-License-Identifier: Apache-2.0
// Lists of numbers as options: "8", "1,2,4", "1:8" (in steps of one), "100:500:100", "1:64:x2".
// Pure functions.
#ifndef NEREID_APPS_NEREID_OPTIONS_VALUE_LIST_H_
#define NEREID_APPS_NEREID_OPTIONS_VALUE_LIST_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <vector>

namespace nereid {

// Most numbers that a list may have.
inline constexpr size_t kMostValues = 64;

struct Bounds {
  double least = 0;
  double most = 0;
  bool whole = false;  // no fractions
};

// `option`: the name for errors, "--rate". INVALID_ARGUMENT, which says what would be right.
absl::StatusOr<double> ParseNumber(absl::string_view option, absl::string_view text,
                                   const Bounds& bounds);
// The numbers in the order given. INVALID_ARGUMENT also for more than kMostValues.
absl::StatusOr<std::vector<double>> ParseValueList(absl::string_view option, absl::string_view text,
                                                   const Bounds& bounds);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_VALUE_LIST_H_
