// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/duration_histogram.h"

#include <algorithm>
#include <utility>

namespace nereid {

ValueHistogram::ValueHistogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      counts_(std::make_unique<std::atomic<uint64_t>[]>(bounds_.size() + 1)) {}

void ValueHistogram::Observe(uint64_t value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), static_cast<double>(value));
  counts_[static_cast<size_t>(bound - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<uint64_t> ValueHistogram::counts() const {
  std::vector<uint64_t> copy(bounds_.size() + 1);
  for (size_t i = 0; i < copy.size(); ++i) copy[i] = counts_[i].load(std::memory_order_relaxed);
  return copy;
}

}  // namespace nereid
