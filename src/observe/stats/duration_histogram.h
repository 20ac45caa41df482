// SPDX-License-Identifier: Apache-2.0
// DurationHistogram: how many durations lie between fixed bounds from 100 us to 10 s. The bounds
// are the same in every server, so that the histograms of several replicas add up. ValueHistogram:
// the same for numbers with bounds of their own. Thread-safe; observing takes no lock.
#ifndef NEREID_OBSERVE_STATS_DURATION_HISTOGRAM_H_
#define NEREID_OBSERVE_STATS_DURATION_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nereid {

// Upper bounds in nanoseconds. Each is at least twice the one before: BucketOf relies on that.
inline constexpr std::array<uint64_t, 16> kDurationBounds = {
    100'000,       250'000,       500'000,       1'000'000,     2'500'000,   5'000'000,
    10'000'000,    25'000'000,    50'000'000,    100'000'000,   250'000'000, 500'000'000,
    1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000};
// One per bound, and one above all bounds.
inline constexpr size_t kDurationBuckets = kDurationBounds.size() + 1;

using DurationCounts = std::array<uint64_t, kDurationBuckets>;

class DurationHistogram {
 public:
  // Costs one addition to an atomic number.
  void Observe(uint64_t ns) { counts_[BucketOf(ns)].fetch_add(1, std::memory_order_relaxed); }
  void AddTo(DurationCounts* total) const {
    for (size_t i = 0; i < counts_.size(); ++i) {
      (*total)[i] += counts_[i].load(std::memory_order_relaxed);
    }
  }

  // The bucket whose bound is the lowest that is not below `ns`.
  static size_t BucketOf(uint64_t ns) {
    const size_t first = kFirst[static_cast<size_t>(std::bit_width(ns))];
    return first + (first < kDurationBounds.size() && ns > kDurationBounds[first] ? 1 : 0);
  }

 private:
  // By the number of bits of a duration: the bucket of the shortest such duration. The bounds are
  // so far apart that the longest one lies in the same bucket or in the next.
  static constexpr std::array<uint8_t, 65> kFirst = [] {
    std::array<uint8_t, 65> first{};
    for (size_t bits = 0; bits < first.size(); ++bits) {
      const uint64_t shortest = bits == 0 ? 0 : uint64_t{1} << (bits - 1);
      while (first[bits] < kDurationBounds.size() && kDurationBounds[first[bits]] < shortest) {
        ++first[bits];
      }
    }
    return first;
  }();

  std::array<std::atomic<uint64_t>, kDurationBuckets> counts_{};
};

class ValueHistogram {
 public:
  // `bounds` ascend.
  explicit ValueHistogram(std::vector<double> bounds);

  void Observe(uint64_t value);
  const std::vector<double>& bounds() const { return bounds_; }
  // One more than there are bounds.
  std::vector<uint64_t> counts() const;
  uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::vector<double> bounds_;
  const std::unique_ptr<std::atomic<uint64_t>[]> counts_;
  std::atomic<uint64_t> sum_{0};
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_STATS_DURATION_HISTOGRAM_H_
