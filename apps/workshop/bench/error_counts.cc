// SPDX-License-Identifier: Apache-2.0
#include "bench/error_counts.h"

#include <algorithm>

#include "bench/control_call.h"

namespace nereid::bench {

void ErrorCounts::Add(absl::string_view text, uint64_t count) {
  if (count == 0) return;
  total_ += count;
  std::string plain = PlainError(text);
  const auto known = std::find_if(texts_.begin(), texts_.end(),
                                  [&](const auto& entry) { return entry.first == plain; });
  if (known != texts_.end()) {
    known->second += count;
  } else if (texts_.size() < kMostTexts) {
    texts_.emplace_back(std::move(plain), count);
  } else {
    others_ += count;
  }
}

std::vector<std::pair<std::string, uint64_t>> ErrorCounts::ByCount() const {
  auto sorted = texts_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (others_ > 0) sorted.emplace_back("other errors", others_);
  return sorted;
}

}  // namespace nereid::bench
