// SPDX-License-Identifier: Apache-2.0
#include "base/outside_text.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <cstring>

namespace nereid {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kMostShownBytes = 100;

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

// Calls `valid` with each sequence of UTF-8 and `invalid` with each other byte.
template <typename Valid, typename Invalid>
void ForEachSequence(absl::string_view text, const Valid& valid, const Invalid& invalid) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length > 0) {
      valid(text.substr(0, length));
    } else {
      invalid(text.front());
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
}

}  // namespace

size_t Utf8SequenceLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  size_t length;
  unsigned char low = 0x80, high = 0xBF;  // bounds of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

bool IsValidUtf8(absl::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    uint64_t word;  // eight bytes of ASCII at a time, since most texts have nothing else
    while (text.size() - i >= sizeof(word)) {
      std::memcpy(&word, text.data() + i, sizeof(word));
      if ((word & 0x8080808080808080u) != 0) break;
      i += sizeof(word);
    }
    if (i == text.size()) return true;
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const size_t length = Utf8SequenceLength(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

absl::string_view ToUtf8(absl::string_view text, std::string* memory) {
  if (IsValidUtf8(text)) return text;
  memory->clear();
  ForEachSequence(
      text, [memory](absl::string_view part) { absl::StrAppend(memory, part); },
      [memory](char) { absl::StrAppend(memory, kReplacement); });
  return *memory;
}

std::string EscapedText(absl::string_view text) {
  std::string shown;
  const auto escape = [&shown](char c) {
    absl::StrAppend(&shown, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
  };
  const auto append = [&](absl::string_view part) {
    if (part.size() == 1 && IsControl(part[0])) return escape(part[0]);
    absl::StrAppend(&shown, part);
  };
  // A sequence that is cut in two shows as bytes.
  ForEachSequence(text.substr(0, kMostShownBytes), append, escape);
  if (text.size() > kMostShownBytes) shown += "...";
  return shown;
}

std::string WhyNoName(absl::string_view text, size_t most_bytes) {
  for (const char c : text) {
    if (IsControl(c)) return "must not contain control characters";
  }
  if (!IsValidUtf8(text)) return "must be UTF-8";
  if (text.size() <= most_bytes) return "";
  return absl::StrCat("must not have more than ", most_bytes, " bytes");
}

absl::Status CheckOutsideName(absl::string_view what, absl::string_view text, size_t most_bytes) {
  const std::string why = WhyNoName(text, most_bytes);
  if (why.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("invalid ", what, " '", EscapedText(text), "', ", what, " ", why));
}

}  // namespace nereid
