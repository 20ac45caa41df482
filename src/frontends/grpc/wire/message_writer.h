// SPDX-License-Identifier: Apache-2.0
// MessagePrefix: the bytes that precede a message on a gRPC stream. A plain value.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_WRITER_H_
#define NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_WRITER_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>

namespace nereid {

struct MessagePrefix {
  static constexpr size_t kBytes = 5;

  // For a message of `length` bytes.
  MessagePrefix(bool compressed, uint32_t length)
      : bytes{static_cast<char>(compressed ? 1 : 0), static_cast<char>(length >> 24),
              static_cast<char>(length >> 16), static_cast<char>(length >> 8),
              static_cast<char>(length)} {}

  absl::string_view text() const { return absl::string_view(bytes, kBytes); }

  char bytes[kBytes];
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_WRITER_H_
