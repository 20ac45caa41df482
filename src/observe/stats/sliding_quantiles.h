// SPDX-License-Identifier: Apache-2.0
// SlidingQuantiles: quantiles of whole numbers that were observed within about the last minute, or
// half of it. Thread-safe; observing takes no lock and waits for nobody.
//
// Numbers are counted in buckets: one for each number below 32, above that 32 for each power of
// two. A quantile is the middle of its bucket, so it differs from a number of the wanted rank by at
// most 1/64 of it. Numbers from 2^32 on count as the largest below.
//
// Time is divided into slices, and each slice has its own counts. They are never cleared: a count
// says of which slice it is, and the first number of a later slice replaces it.
#ifndef NEREID_OBSERVE_STATS_SLIDING_QUANTILES_H_
#define NEREID_OBSERVE_STATS_SLIDING_QUANTILES_H_

#include <absl/types/span.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nereid {

class SlidingQuantiles {
 public:
  // The slice that is being filled and those before it. With the usual length a number is seen for
  // 48 to 60 seconds.
  static constexpr uint64_t kSlices = 5;
  static constexpr uint64_t kSliceNs = 12'000'000'000;

  explicit SlidingQuantiles(uint64_t slice_ns = kSliceNs);

  // `now_ns`: of the steady clock. A number whose time is no longer seen may be lost.
  void Observe(uint64_t now_ns, uint64_t number);
  // The numbers at `quantiles`, each 0 to 1; NaN if nothing was observed.
  std::vector<double> Read(uint64_t now_ns, absl::Span<const double> quantiles) const;

 private:
  static constexpr size_t kExactBits = 5;
  static constexpr size_t kPerPower = size_t{1} << kExactBits;
  static constexpr size_t kNumberBits = 32;
  static constexpr size_t kBuckets = (kNumberBits - kExactBits + 1) * kPerPower;

  static size_t BucketOf(uint64_t number);
  static double MiddleOf(size_t bucket);
  // Slices are numbered from 1, because a cell that was never used has 0 there.
  uint32_t SliceOf(uint64_t now_ns) const { return static_cast<uint32_t>(now_ns / slice_ns_ + 1); }

  const uint64_t slice_ns_;

  // kSlices times kBuckets; the number of the slice in the upper half, the count in the lower.
  const std::unique_ptr<std::atomic<uint64_t>[]> cells_;
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_STATS_SLIDING_QUANTILES_H_
