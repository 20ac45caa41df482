// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/length_headers.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace nereid {
absl::StatusOr<size_t> ParseInferenceHeaderLength(absl::string_view value, size_t body_size) {
  constexpr char kHeader[] = "Inference-Header-Content-Length";
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const std::from_chars_result result = std::from_chars(value.data(), end, number);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) {
    return absl::InvalidArgumentError(absl::StrCat("Unable to parse ", kHeader, ", got: ", value));
  }
  if (result.ec == std::errc::result_out_of_range) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to parse ", kHeader, ", value is out of range [ ",
                     std::numeric_limits<int64_t>::min(), ", ", std::numeric_limits<int64_t>::max(),
                     " ], got: ", value));
  }
  if (number < 0 || static_cast<uint64_t>(number) > body_size) {
    return absl::InvalidArgumentError(absl::StrCat("inference header size should be in range (0, ",
                                                   body_size, "), got: ", value));
  }
  return static_cast<size_t>(number);
}

}  // namespace nereid
