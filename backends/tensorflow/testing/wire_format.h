// SPDX-License-Identifier: Apache-2.0
// Messages of Protobuf in wire format, for tests of what reads them. Pure functions.
#ifndef NEREID_BACKENDS_TENSORFLOW_TESTING_WIRE_FORMAT_H_
#define NEREID_BACKENDS_TENSORFLOW_TESTING_WIRE_FORMAT_H_

#include <cstdint>
#include <string>

namespace nereid_tensorflow {

inline std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}
// A field that holds a number or a bool.
inline std::string Number(uint32_t field, int64_t value) {
  return Varint(field << 3) + Varint(static_cast<uint64_t>(value));
}
// A field that holds a string or a message.
inline std::string Bytes(uint32_t field, const std::string& bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_TESTING_WIRE_FORMAT_H_
