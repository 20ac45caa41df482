// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/request_limits.h"

#include <absl/strings/str_cat.h>

namespace nereid {

absl::Status CheckLength(absl::string_view what, absl::string_view text, size_t limit) {
  if (text.size() <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the ", what, " has ", text.size(), " bytes, at most ", limit, " are allowed"));
}

absl::Status CheckParameterCount(absl::string_view owner, size_t count) {
  if (count <= kMaxParameters) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(owner, " has ", count, " parameters, at most ", kMaxParameters, " are allowed"));
}

absl::Status CheckDimensionCount(absl::string_view tensor, size_t count) {
  if (count <= kMaxDimensions) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the shape of '", tensor, "' has ", count,
                                                 " dimensions, at most ", kMaxDimensions,
                                                 " are allowed"));
}

}  // namespace nereid
