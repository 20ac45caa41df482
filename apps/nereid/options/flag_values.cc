// SPDX-License-Identifier: Apache-2.0
#include "options/flag_values.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace nereid {

absl::Status ParseBool(absl::string_view value, bool* out) {
  const std::string lower = absl::AsciiStrToLower(value);
  if (lower == "true" || lower == "on" || lower == "1") {
    *out = true;
  } else if (lower == "false" || lower == "off" || lower == "0") {
    *out = false;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid value for bool option: ", value, " (use true or false)"));
  }
  return absl::OkStatus();
}

absl::Status ParseInteger(absl::string_view value, int64_t low, int64_t high, int64_t* out) {
  int64_t number;
  if (!absl::SimpleAtoi(value, &number)) {
    const bool digits = !value.empty() && std::all_of(value.begin() + (value[0] == '-' ? 1 : 0),
                                                      value.end(), absl::ascii_isdigit);
    return absl::InvalidArgumentError(
        digits ? absl::StrCat("Provided option value is out of bound. Got ", value)
               : absl::StrCat("Invalid option value. Got ", value, " (use a whole number)"));
  }
  if (number < low || number > high) {
    return absl::InvalidArgumentError(absl::StrCat("Provided option value is out of bound. Got ",
                                                   value, " (use ", low, " to ", high, ")"));
  }
  *out = number;
  return absl::OkStatus();
}

absl::Status ParseNumber(absl::string_view value, double* out) {
  double number;
  if (!absl::SimpleAtod(value, &number) || !std::isfinite(number)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid option value. Got ", value, " (use a number)"));
  }
  *out = number;
  return absl::OkStatus();
}

}  // namespace nereid
