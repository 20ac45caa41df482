// SPDX-License-Identifier: Apache-2.0
// NonFinite: how NaN and the infinities, for which JSON has no number, stand in an answer. A plain
// value, with the names that clients and the command line give it.
#ifndef NEREID_FRONTENDS_CODEC_NON_FINITE_H_
#define NEREID_FRONTENDS_CODEC_NON_FINITE_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace nereid {

enum class NonFinite : uint8_t {
  kLiteral,  // NaN, Infinity, -Infinity: as Triton, and as Python's json reads them
  kNull,     // null
  kString,   // the same words in quotes
  kError,    // the request fails
};

inline constexpr std::pair<const char*, NonFinite> kNonFiniteNames[] = {
    {"literal", NonFinite::kLiteral},
    {"null", NonFinite::kNull},
    {"string", NonFinite::kString},
    {"error", NonFinite::kError}};

// The request parameter that chooses.
inline constexpr char kNonFiniteParameter[] = "json_non_finite";

// None for a text that is none of the names.
inline std::optional<NonFinite> ParseNonFinite(absl::string_view text) {
  for (const auto& [name, value] : kNonFiniteNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_NON_FINITE_H_
