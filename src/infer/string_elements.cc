// SPDX-License-Identifier: Apache-2.0
#include "infer/string_elements.h"

#include <absl/strings/str_cat.h>

#include <cstring>

namespace nereid {

absl::Status CheckStringElements(absl::string_view bytes, int64_t expected,
                                 absl::FunctionRef<std::string()> about) {
  const auto invalid = [](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(parts...));
  };
  int64_t elements = 0;
  const char* at = bytes.data();
  uint64_t left = bytes.size();
  while (left >= sizeof(uint32_t)) {
    if (elements >= expected) {
      return invalid("unexpected number of string elements ", elements + 1, about(), ", expecting ",
                     expected);
    }
    // Copied, because lengths lie between texts of any size and are not aligned.
    uint32_t length;
    std::memcpy(&length, at, sizeof(length));
    at += sizeof(length);
    left -= sizeof(length);
    if (length > left) {
      return invalid("incomplete string data", about(), ", expecting string of length ", length,
                     " but only ", left, " bytes available");
    }
    at += length;
    left -= length;
    ++elements;
  }
  if (left > 0) {
    return invalid("incomplete string length indicator", about(), ", expecting 4 bytes but only ",
                   left,
                   " bytes available. Please make sure the string length indicator is in one "
                   "buffer.");
  }
  if (elements != expected) {
    return invalid("expected ", expected, " string elements", about(), ", got ", elements);
  }
  return absl::OkStatus();
}

}  // namespace nereid
