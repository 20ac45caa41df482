// SPDX-License-Identifier: Apache-2.0
// Parses the values of options. Pure, thread-safe.
#ifndef NEREID_APPS_NEREID_OPTIONS_FLAG_VALUES_H_
#define NEREID_APPS_NEREID_OPTIONS_FLAG_VALUES_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <limits>

namespace nereid {

inline constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// Each leaves `*out` unchanged and returns INVALID_ARGUMENT if `value` has none of these forms:
// true/on/1, false/off/0, in any case.
absl::Status ParseBool(absl::string_view value, bool* out);
// A decimal number within [low, high].
absl::Status ParseInteger(absl::string_view value, int64_t low, int64_t high, int64_t* out);
// A finite number.
absl::Status ParseNumber(absl::string_view value, double* out);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_FLAG_VALUES_H_
