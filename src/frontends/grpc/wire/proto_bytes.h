// SPDX-License-Identifier: Apache-2.0
// The pieces of protobuf's encoding of which answers are made without its objects. Field numbers
// are below 16 where a `char` is a tag. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_PROTO_BYTES_H_
#define NEREID_FRONTENDS_GRPC_WIRE_PROTO_BYTES_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace nereid::proto_bytes {

// Wire types.
inline constexpr char kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
constexpr char Tag(int field, char wire_type) { return static_cast<char>(field << 3 | wire_type); }

inline constexpr size_t kMaxTagBytes = 11;  // tag and length
inline constexpr uint64_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();

inline void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

inline size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

// A tag and the length, or the number, behind it.
inline void AppendTag(char tag, uint64_t length, std::string* out) {
  out->push_back(tag);
  AppendVarint(length, out);
}
// Bytes that AppendTag appends.
inline size_t TagSize(uint64_t length) { return 1 + VarintSize(length); }

inline void AppendBytes(char tag, absl::string_view bytes, std::string* out) {
  AppendTag(tag, bytes.size(), out);
  out->append(bytes.data(), bytes.size());
}
// Bytes that AppendBytes appends.
inline size_t BytesSize(absl::string_view bytes) { return TagSize(bytes.size()) + bytes.size(); }

// A field that is left out when it is empty, as the protocol's default.
inline void AppendText(char tag, absl::string_view utf8, std::string* out) {
  if (!utf8.empty()) AppendBytes(tag, utf8, out);
}
inline size_t TextSize(absl::string_view utf8) { return utf8.empty() ? 0 : BytesSize(utf8); }

}  // namespace nereid::proto_bytes

#endif  // NEREID_FRONTENDS_GRPC_WIRE_PROTO_BYTES_H_
