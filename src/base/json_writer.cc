#include "base/json_writer.h"

#include <charconv>
#include <cmath>

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
  size_t plain = 0;  // start of the run of bytes not yet copied
  size_t i = 0;
  const auto flush = [&] { out->append(text.data() + plain, i - plain); };
  while (i < text.size()) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    if (c < 0x80) {
      flush();
      AppendEscape(c, out);
      plain = ++i;
      continue;
    }
    const size_t length = Utf8SequenceLength(text.substr(i));
    if (length > 0) {
      i += length;
      continue;
    }
    flush();
    out->append(kReplacement.data(), kReplacement.size());
    plain = ++i;
    whole = false;
  }
  flush();
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

}  // namespace nereid
