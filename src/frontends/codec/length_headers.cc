#include "frontends/codec/length_headers.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <charconv>
#include <limits>
#include <system_error>

namespace nereid {
namespace {

absl::StatusOr<int32_t> ParseInt32(absl::string_view header, absl::string_view value) {
  int32_t number = 0;
  const char* const end = value.data() + value.size();
  const std::from_chars_result result = std::from_chars(value.data(), end, number);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) {
    return absl::InvalidArgumentError(absl::StrCat("Unable to parse ", header, ", got: ", value));
  }
  if (result.ec == std::errc::result_out_of_range) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to parse ", header, ", value is out of range [ ",
                     std::numeric_limits<int32_t>::min(), ", ", std::numeric_limits<int32_t>::max(),
                     " ], got: ", value));
  }
  return number;
}

}  // namespace

absl::StatusOr<int32_t> ParseContentLength(absl::string_view value) {
  return ParseInt32("Content-Length", value);
}

absl::StatusOr<size_t> ParseInferenceHeaderLength(absl::string_view value, size_t body_size) {
  const absl::StatusOr<int32_t> length = ParseInt32("Inference-Header-Content-Length", value);
  if (!length.ok()) return length.status();
  if (*length < 0 || static_cast<size_t>(*length) > body_size) {
    return absl::InvalidArgumentError(absl::StrCat("inference header size should be in range (0, ",
                                                   body_size, "), got: ", value));
  }
  return static_cast<size_t>(*length);
}

}  // namespace nereid
