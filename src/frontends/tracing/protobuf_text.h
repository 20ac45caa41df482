// SPDX-License-Identifier: Apache-2.0
// ProtobufText: a message in protobuf's binary form, written field by field. Thread-compatible.
//
// Why by hand: docs/adr/0023-otlp-by-hand.md.
#ifndef NEREID_FRONTENDS_TRACING_PROTOBUF_TEXT_H_
#define NEREID_FRONTENDS_TRACING_PROTOBUF_TEXT_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>

namespace nereid {

class ProtobufText {
 public:
  // Each appends the field `number`; a message's own fields come in any order.
  void Varint(uint32_t number, uint64_t value) {
    AppendVarint(number << 3U | kVarint);
    AppendVarint(value);
  }
  void Fixed64(uint32_t number, uint64_t value) {
    AppendVarint(number << 3U | kFixed64);
    for (int i = 0; i < 8; ++i) text_.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
  }
  // Also for strings and for messages.
  void Bytes(uint32_t number, absl::string_view bytes) {
    AppendVarint(number << 3U | kLengthDelimited);
    AppendVarint(bytes.size());
    text_.append(bytes.data(), bytes.size());
  }
  void Message(uint32_t number, const ProtobufText& message) { Bytes(number, message.text_); }

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  static constexpr uint32_t kVarint = 0;
  static constexpr uint32_t kFixed64 = 1;
  static constexpr uint32_t kLengthDelimited = 2;

  void AppendVarint(uint64_t value) {
    while (value >= 0x80U) {
      text_.push_back(static_cast<char>(value | 0x80U));
      value >>= 7U;
    }
    text_.push_back(static_cast<char>(value));
  }

  std::string text_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_PROTOBUF_TEXT_H_
