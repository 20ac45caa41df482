// SPDX-License-Identifier: Apache-2.0
#include "config/diagnostics.h"

#include <absl/strings/str_cat.h>

namespace nereid {
namespace {

std::string Describe(const Problem& problem) {
  return absl::StrCat(problem.text, " (", problem.field, ": ", problem.hint, ")");
}

}  // namespace

absl::Status Diagnostics::ToStatus(absl::string_view model) const {
  if (problems_.empty()) return absl::OkStatus();
  if (problems_.size() == 1) return absl::Status(problems_[0].code, Describe(problems_[0]));

  absl::StatusCode code = problems_[0].code;
  std::string text =
      absl::StrCat("the configuration of model '", model, "' has ", problems_.size(), " problems:");
  for (size_t i = 0; i < problems_.size(); ++i) {
    absl::StrAppend(&text, "\n  ", i + 1, ". ", Describe(problems_[i]));
    if (problems_[i].code != code) code = absl::StatusCode::kInvalidArgument;
  }
  return absl::Status(code, text);
}

}  // namespace nereid
