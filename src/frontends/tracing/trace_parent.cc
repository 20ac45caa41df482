// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_parent.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>

namespace nereid {
namespace {

// version "-" trace id "-" span id "-" flags
constexpr size_t kVersionEnd = 2;
constexpr size_t kTraceIdEnd = kVersionEnd + 1 + 32;
constexpr size_t kSpanIdEnd = kTraceIdEnd + 1 + 16;
constexpr size_t kSize = kSpanIdEnd + 1 + 2;
constexpr size_t kMostStateBytes = 512;
constexpr uint8_t kSampled = 1;

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');  // capitals are not allowed
  });
}

template <size_t n>
bool Decode(absl::string_view hex, std::array<uint8_t, n>* out) {
  const std::string bytes = absl::HexStringToBytes(hex);
  std::copy(bytes.begin(), bytes.end(), out->begin());
  return std::any_of(out->begin(), out->end(), [](uint8_t byte) { return byte != 0; });
}

template <size_t n>
std::string Encode(const std::array<uint8_t, n>& bytes) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace

std::optional<TraceParent> ParseTraceParent(absl::string_view parent, absl::string_view state) {
  if (parent.size() < kSize || parent[kVersionEnd] != '-' || parent[kTraceIdEnd] != '-' ||
      parent[kSpanIdEnd] != '-') {
    return std::nullopt;
  }
  const absl::string_view version = parent.substr(0, kVersionEnd);
  const absl::string_view trace_id = parent.substr(kVersionEnd + 1, 32);
  const absl::string_view span_id = parent.substr(kTraceIdEnd + 1, 16);
  const absl::string_view flags = parent.substr(kSpanIdEnd + 1, 2);
  if (!IsHex(version) || !IsHex(trace_id) || !IsHex(span_id) || !IsHex(flags)) return std::nullopt;
  // A later version may say more behind these four parts.
  if (version == "ff") return std::nullopt;
  if (parent.size() > kSize && (version == "00" || parent[kSize] != '-')) return std::nullopt;
  TraceParent result;
  if (!Decode(trace_id, &result.trace_id) || !Decode(span_id, &result.span_id)) {
    return std::nullopt;
  }
  std::array<uint8_t, 1> bits{};
  Decode(flags, &bits);
  result.sampled = (bits[0] & kSampled) != 0;
  if (state.size() <= kMostStateBytes) result.state = std::string(state);
  return result;
}

std::string FormatTraceId(const SpanTraceId& trace_id) { return Encode(trace_id); }

std::string FormatTraceParent(const SpanTraceId& trace_id, const SpanId& span_id) {
  return absl::StrCat("00-", Encode(trace_id), "-", Encode(span_id), "-01");
}

}  // namespace nereid
