// SPDX-License-Identifier: Apache-2.0
// Histogram: counts of latencies in nanoseconds, in buckets less than 1 % wide, so that a run of
// any length takes the same memory. Thread-compatible.
#ifndef NEREID_APPS_LOADGEN_HISTOGRAM_H_
#define NEREID_APPS_LOADGEN_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::bench {

class Histogram {
 public:
  Histogram();

  // Negative values count as 0.
  void Add(int64_t nanoseconds);

  uint64_t count() const { return count_; }
  int64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  // Of the `fraction` (0..1) of the values that are the smallest ones, give or take the width of
  // their buckets. 0 when there are no values.
  double MeanOfSmallest(double fraction) const;
  // The smallest value that at least `fraction` (0..1) of the values do not exceed, rounded up to
  // the end of its bucket, but never past max(). 0 when there are no values.
  int64_t Percentile(double fraction) const;
  // The share of the values that do not exceed `value`, give or take a bucket.
  double ShareUpTo(int64_t value) const;

  // Adds the values of `other`.
  void Merge(const Histogram& other);
  void Clear();

 private:
  static size_t BucketOf(uint64_t value);
  static uint64_t EndOf(size_t bucket);

  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_HISTOGRAM_H_
