// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/call_head.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nereid {
namespace {

constexpr size_t kMostTimeoutDigits = 8;
constexpr size_t kMostQuotedBytes = 64;
constexpr char kHexDigits[] = "0123456789ABCDEF";

std::optional<Duration> TimeoutUnit(char unit) {
  switch (unit) {
    case 'H':
      return std::chrono::hours(1);
    case 'M':
      return std::chrono::minutes(1);
    case 'S':
      return std::chrono::seconds(1);
    case 'm':
      return std::chrono::milliseconds(1);
    case 'u':
      return std::chrono::microseconds(1);
    case 'n':
      return std::chrono::nanoseconds(1);
    default:
      return std::nullopt;
  }
}

// `text` may have arrived from anywhere and be of any length.
std::string Quoted(absl::string_view text) {
  const bool long_text = text.size() > kMostQuotedBytes;
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, kMostQuotedBytes)),
                      long_text ? "...'" : "'");
}

}  // namespace

absl::StatusOr<std::optional<Duration>> ParseTimeout(absl::string_view value) {
  if (value.empty()) return std::nullopt;
  const absl::string_view digits = value.substr(0, value.size() - 1);
  const std::optional<Duration> unit = TimeoutUnit(value.back());
  if (!unit.has_value() || digits.empty() || digits.size() > kMostTimeoutDigits ||
      !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) {
    return absl::InvalidArgumentError(absl::StrCat("'grpc-timeout' is ", Quoted(value),
                                                   ", expected 1 to 8 digits and one of the units "
                                                   "H, M, S, m, u, n"));
  }
  int64_t count = 0;
  for (const char digit : digits) count = 10 * count + (digit - '0');
  if (count > kLongestTimeout / *unit) return kLongestTimeout;
  return count * *unit;
}

bool IsGrpcContentType(absl::string_view content_type) {
  constexpr absl::string_view kName = "application/grpc";
  if (!absl::StartsWithIgnoreCase(content_type, kName)) return false;
  content_type.remove_prefix(kName.size());
  return content_type.empty() || content_type[0] == '+' || content_type[0] == ';';
}

absl::Span<const absl::string_view> SingleFields() {
  static constexpr std::array<absl::string_view, 5> kNames = {
      "content-type", "grpc-encoding", "grpc-timeout", "authorization", "triton-grpc-protocol-"};
  return kNames;
}

bool IsSingleField(absl::string_view name) {
  const absl::Span<const absl::string_view> fields = SingleFields();
  return std::any_of(fields.begin(), fields.end(), [name](absl::string_view field) {
    return field.back() == '-' ? absl::StartsWith(name, field) : name == field;
  });
}

absl::Status CheckRepeated(absl::string_view name, absl::string_view first,
                           absl::string_view value) {
  if (first == value) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the metadata '", name,
                                                 "' may stand in a call once, but it is given as ",
                                                 Quoted(first), " and as ", Quoted(value)));
}

std::string EncodeStatusMessage(absl::string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (c >= 0x20 && c <= 0x7E && c != '%') {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.push_back('%');
    encoded.push_back(kHexDigits[byte >> 4]);
    encoded.push_back(kHexDigits[byte & 15]);
  }
  return encoded;
}

std::string EncodeBinaryMetadata(absl::string_view bytes) {
  std::string text = absl::Base64Escape(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

}  // namespace nereid
