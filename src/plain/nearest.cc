// SPDX-License-Identifier: Apache-2.0
#include "plain/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace nereid {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

// Levenshtein distance, one row of the table at a time.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (Lower(a[i]) == Lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string FewestEdits(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > kLongestMisspelt) return "";
  std::string nearest;
  size_t fewest = kLongestMisspelt;
  for (const std::string& candidate : candidates) {
    const size_t edits = EditDistance(name, candidate);
    if (edits * 3 >= std::max(name.size(), candidate.size()) || edits >= fewest) continue;
    fewest = edits;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace nereid
