// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/growth_watch.h"

#include <algorithm>

namespace nereid {
namespace {

// Intervals in succession without a change. One may be a pause in the middle of a load.
constexpr int kLeastAtRest = 2;

}  // namespace

bool GrowthWatch::HasGrown(uint64_t bytes) {
  const uint64_t change = std::max(bytes, last_) - std::min(bytes, last_);
  samples_at_rest_ = change < kAtRest ? samples_at_rest_ + 1 : 0;
  last_ = bytes;
  floor_ = std::min(floor_, bytes);
  samples_grown_ = bytes >= floor_ + kLeastGrowth ? samples_grown_ + 1 : 0;
  if (samples_grown_ == 0) return false;
  return samples_at_rest_ >= kLeastAtRest || samples_grown_ >= kMostPatience;
}

void GrowthWatch::Done(uint64_t bytes) {
  floor_ = bytes;
  samples_grown_ = 0;
}

}  // namespace nereid
