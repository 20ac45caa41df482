// SPDX-License-Identifier: Apache-2.0
// What a client reads in the head fields that the server writes: the inverse of call_head.h's
// encodings. For tests and fuzzers.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_TESTING_CALL_HEAD_DECODING_H_
#define NEREID_FRONTENDS_GRPC_WIRE_TESTING_CALL_HEAD_DECODING_H_

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <optional>
#include <string>

namespace nereid {

// The text of a grpc-message; none if a `%` has no two hexadecimal digits behind it.
inline std::optional<std::string> DecodeStatusMessage(absl::string_view encoded) {
  std::string text;
  while (!encoded.empty()) {
    const size_t length = encoded[0] == '%' ? 3 : 1;
    if (encoded.size() < length) return std::nullopt;
    if (length == 1) {
      text.push_back(encoded[0]);
    } else {
      for (const char digit : encoded.substr(1, 2)) {
        if (!absl::ascii_isxdigit(static_cast<unsigned char>(digit))) return std::nullopt;
      }
      text += absl::HexStringToBytes(encoded.substr(1, 2));
    }
    encoded.remove_prefix(length);
  }
  return text;
}

// The bytes of a metadata field whose name ends in "-bin"; none if it is not base64.
inline std::optional<std::string> DecodeBinaryMetadata(absl::string_view encoded) {
  std::string bytes;
  if (!absl::Base64Unescape(encoded, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_WIRE_TESTING_CALL_HEAD_DECODING_H_
