// SPDX-License-Identifier: Apache-2.0
#include "options/value_list.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <cmath>

#include "base/status_macros.h"

namespace nereid {
namespace {

absl::Status TooMany(absl::string_view option) {
  return absl::InvalidArgumentError(absl::StrCat(option, " has more than ", kMostValues,
                                                 " values; measure them in several runs"));
}

// "FIRST:LAST", "FIRST:LAST:STEP" or "FIRST:LAST:xFACTOR".
absl::Status AppendRange(absl::string_view option, absl::string_view text, const Bounds& bounds,
                         std::vector<double>* values) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() > 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, " is '", text, "'; a range is FIRST:LAST, FIRST:LAST:STEP or FIRST:LAST:xFACTOR"));
  }
  ASSIGN_OR_RETURN(const double first, ParseNumber(option, parts[0], bounds));
  ASSIGN_OR_RETURN(const double last, ParseNumber(option, parts[1], bounds));
  absl::string_view step_text = parts.size() == 3 ? parts[2] : "1";
  const bool factor = absl::ConsumePrefix(&step_text, "x");
  double step = 0;
  if (!absl::SimpleAtod(step_text, &step) || !std::isfinite(step) || !(step > (factor ? 1 : 0))) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, " is '", text,
                     "'; its step has to be a number above 0, or xFACTOR with a factor "
                     "above 1"));
  }
  // A hair more, because steps like 0.1 add up to a little more than they should.
  for (double value = first; value <= last * (1 + 1e-9);
       value = factor ? value * step : value + step) {
    if (values->size() == kMostValues) return TooMany(option);
    values->push_back(bounds.whole ? std::floor(value) : value);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<double> ParseNumber(absl::string_view option, absl::string_view text,
                                   const Bounds& bounds) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !(value >= bounds.least && value <= bounds.most) ||
      (bounds.whole && value != std::floor(value))) {
    return absl::InvalidArgumentError(absl::StrCat(option, " is '", text, "'; it has to be a ",
                                                   bounds.whole ? "whole " : "", "number from ",
                                                   bounds.least, " to ", bounds.most));
  }
  return value;
}

absl::StatusOr<std::vector<double>> ParseValueList(absl::string_view option, absl::string_view text,
                                                   const Bounds& bounds) {
  std::vector<double> values;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (part.find(':') != absl::string_view::npos) {
      RETURN_IF_ERROR(AppendRange(option, part, bounds, &values));
      continue;
    }
    ASSIGN_OR_RETURN(const double value, ParseNumber(option, part, bounds));
    if (values.size() == kMostValues) return TooMany(option);
    values.push_back(value);
  }
  if (!values.empty()) return values;
  return absl::InvalidArgumentError(absl::StrCat(
      option, " is '", text, "', which is empty: the first value is larger than the last"));
}

}  // namespace nereid
