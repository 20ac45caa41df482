// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/sliding_quantiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace nereid {
namespace {

constexpr uint64_t kCountMask = 0xffff'ffff;

uint32_t SliceOfCell(uint64_t cell) { return static_cast<uint32_t>(cell >> 32); }

}  // namespace

SlidingQuantiles::SlidingQuantiles(uint64_t slice_ns)
    : slice_ns_(slice_ns), cells_(std::make_unique<std::atomic<uint64_t>[]>(kSlices * kBuckets)) {}

size_t SlidingQuantiles::BucketOf(uint64_t number) {
  number = std::min(number, (uint64_t{1} << kNumberBits) - 1);
  if (number < kPerPower) return number;
  const size_t power = static_cast<size_t>(std::bit_width(number)) - 1 - kExactBits;
  return (power + 1) * kPerPower + ((number >> power) - kPerPower);
}

double SlidingQuantiles::MiddleOf(size_t bucket) {
  if (bucket < kPerPower) return static_cast<double>(bucket);
  const size_t power = bucket / kPerPower - 1;
  const uint64_t lowest = (kPerPower + bucket % kPerPower) << power;
  const uint64_t highest = lowest + (uint64_t{1} << power) - 1;
  return static_cast<double>(lowest + highest) / 2;
}

void SlidingQuantiles::Observe(uint64_t now_ns, uint64_t number) {
  const uint32_t slice = SliceOf(now_ns);
  std::atomic<uint64_t>& cell = cells_[slice % kSlices * kBuckets + BucketOf(number)];
  uint64_t seen = cell.load(std::memory_order_relaxed);
  while (SliceOfCell(seen) != slice) {
    if (SliceOfCell(seen) > slice) return;  // comes a minute too late
    const uint64_t first = (uint64_t{slice} << 32) | 1;
    if (cell.compare_exchange_weak(seen, first, std::memory_order_relaxed)) return;
  }
  cell.fetch_add(1, std::memory_order_relaxed);
}

std::vector<double> SlidingQuantiles::Read(uint64_t now_ns,
                                           absl::Span<const double> quantiles) const {
  const uint32_t now = SliceOf(now_ns);
  std::array<uint64_t, kBuckets> counts{};
  uint64_t total = 0;
  for (size_t i = 0; i < kSlices * kBuckets; ++i) {
    const uint64_t cell = cells_[i].load(std::memory_order_relaxed);
    const uint32_t slice = SliceOfCell(cell);
    if (slice == 0 || slice + kSlices <= now || slice > now) continue;
    counts[i % kBuckets] += cell & kCountMask;
    total += cell & kCountMask;
  }
  std::vector<double> values;
  for (const double quantile : quantiles) {
    if (total == 0) {
      values.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const double rank = std::max(1.0, std::ceil(quantile * static_cast<double>(total)));
    size_t bucket = 0;
    uint64_t below = counts[0];
    while (static_cast<double>(below) < rank && bucket + 1 < kBuckets) below += counts[++bucket];
    values.push_back(MiddleOf(bucket));
  }
  return values;
}

}  // namespace nereid
