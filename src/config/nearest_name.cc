#include "config/nearest_name.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace nereid {
namespace {

// No configuration name is nearly this long; longer names are not worth the quadratic work.
constexpr size_t kLongestName = 128;
constexpr size_t kShortestPrefix = 3;

// Levenshtein distance, one row of the table at a time.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const bool same = absl::ascii_tolower(a[i]) == absl::ascii_tolower(b[j]);
      const size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestName(absl::string_view name, absl::Span<const std::string> candidates) {
  if (name.size() > kLongestName) return "";
  std::string nearest;
  size_t fewest = kLongestName;
  for (const std::string& candidate : candidates) {
    const size_t edits = EditDistance(name, candidate);
    if (edits * 3 >= std::max(name.size(), candidate.size()) || edits >= fewest) continue;
    fewest = edits;
    nearest = candidate;
  }
  if (!nearest.empty() || name.size() < kShortestPrefix) return nearest;
  for (const std::string& candidate : candidates) {
    if (absl::StartsWithIgnoreCase(candidate, name)) return candidate;
  }
  return "";
}

}  // namespace nereid
