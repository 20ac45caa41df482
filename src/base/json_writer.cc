// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/outside_text.h"

namespace nereid {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";

void AppendEscape(unsigned char c, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      *out += "\\\"";
      return;
    case '\\':
      *out += "\\\\";
      return;
    case '\b':
      *out += "\\b";
      return;
    case '\f':
      *out += "\\f";
      return;
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    default:
      *out += "\\u00";
      *out += kHex[c >> 4];
      *out += kHex[c & 15];
  }
}

bool IsPlain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

// How many bytes at the front of `text` stand in JSON as they are. Looks at eight at a time, since
// most texts are such names and have no others.
size_t PlainBytes(absl::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  constexpr uint64_t kHighBits = 0x80 * kOnes;
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest one");
  // The high bit of each byte that is zero. Of those above the first such byte some may be wrong.
  const auto zeros = [](uint64_t word) { return (word - kOnes) & ~word; };
  size_t i = 0;
  for (; text.size() - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, sizeof(word));
    const uint64_t controls = (word - 0x20 * kOnes) & ~word;
    const uint64_t found =
        (word | controls | zeros(word ^ ('"' * kOnes)) | zeros(word ^ ('\\' * kOnes))) & kHighBits;
    if (found != 0) return i + static_cast<size_t>(std::countr_zero(found)) / 8;
  }
  while (i < text.size() && IsPlain(static_cast<unsigned char>(text[i]))) ++i;
  return i;
}

template <typename T>
void AppendFloating(T value, std::string* out) {
  if (std::isnan(value)) {
    *out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  const absl::string_view text(buffer, static_cast<size_t>(result.ptr - buffer));
  out->append(text.data(), text.size());
  if (text.find_first_of(".e") == absl::string_view::npos) *out += ".0";
}

template <typename T>
void AppendInteger(T value, std::string* out) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out->append(buffer, static_cast<size_t>(result.ptr - buffer));
}

}  // namespace

bool AppendJsonString(absl::string_view text, std::string* out) {
  bool whole = true;
  *out += '"';
  while (true) {
    size_t run = PlainBytes(text);
    while (run < text.size() && static_cast<unsigned char>(text[run]) >= 0x80) {
      const size_t length = Utf8SequenceLength(text.substr(run));
      if (length == 0) break;
      run += length;
      run += PlainBytes(text.substr(run));
    }
    out->append(text.data(), run);
    if (run == text.size()) break;
    const auto c = static_cast<unsigned char>(text[run]);
    if (c < 0x80) {
      AppendEscape(c, out);
    } else {
      out->append(kReplacement.data(), kReplacement.size());
      whole = false;
    }
    text.remove_prefix(run + 1);
  }
  *out += '"';
  return whole;
}

void AppendJsonFloat(float value, std::string* out) { AppendFloating(value, out); }
void AppendJsonDouble(double value, std::string* out) { AppendFloating(value, out); }

void JsonWriter::Separate() {
  if (need_comma_) *out_ += ',';
  need_comma_ = true;
}

void JsonWriter::Open(char c) {
  Separate();
  *out_ += c;
  need_comma_ = false;
}

void JsonWriter::Close(char c) {
  *out_ += c;
  need_comma_ = true;
}

void JsonWriter::Key(absl::string_view key) {
  Separate();
  AppendJsonString(key, out_);
  *out_ += ':';
  need_comma_ = false;
}

bool JsonWriter::String(absl::string_view value) {
  Separate();
  return AppendJsonString(value, out_);
}

void JsonWriter::Int(int64_t value) {
  Separate();
  AppendInteger(value, out_);
}

void JsonWriter::Uint(uint64_t value) {
  Separate();
  AppendInteger(value, out_);
}

void JsonWriter::Bool(bool value) {
  Separate();
  *out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  Separate();
  *out_ += "null";
}

void JsonWriter::Float(float value) {
  Separate();
  AppendJsonFloat(value, out_);
}

void JsonWriter::Double(double value) {
  Separate();
  AppendJsonDouble(value, out_);
}

void JsonWriter::Raw(absl::string_view json) {
  Separate();
  out_->append(json.data(), json.size());
}

void JsonWriter::AddRaw(absl::string_view key, absl::string_view json) {
  Key(key);
  Raw(json);
}

void JsonWriter::BeginObject(absl::string_view key) {
  Key(key);
  Open('{');
}

void JsonWriter::BeginArray(absl::string_view key) {
  Key(key);
  Open('[');
}

}  // namespace nereid
