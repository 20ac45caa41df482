// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nereid::bench {
namespace {

// Values below 2^kBits have a bucket each; above, every power of two is split into 2^kBits.
constexpr int kBits = 7;
constexpr uint64_t kPerPower = uint64_t{1} << kBits;
constexpr size_t kBuckets = (64 - kBits + 1) * kPerPower;

}  // namespace

Histogram::Histogram() : buckets_(kBuckets) {}

size_t Histogram::BucketOf(uint64_t value) {
  if (value < kPerPower) return value;
  const int shift = std::bit_width(value) - 1 - kBits;
  return (static_cast<size_t>(shift) + 1) * kPerPower + ((value >> shift) - kPerPower);
}

uint64_t Histogram::EndOf(size_t bucket) {
  if (bucket < kPerPower) return bucket;
  const size_t shift = bucket / kPerPower - 1;
  return ((bucket % kPerPower + kPerPower + 1) << shift) - 1;
}

void Histogram::Add(int64_t nanoseconds) {
  const int64_t value = std::max<int64_t>(nanoseconds, 0);
  ++buckets_[BucketOf(static_cast<uint64_t>(value))];
  ++count_;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

double Histogram::MeanOfSmallest(double fraction) const {
  const auto wanted = static_cast<uint64_t>(std::ceil(fraction * static_cast<double>(count_)));
  if (wanted >= count_) return mean();
  uint64_t seen = 0;
  double sum = 0;
  for (size_t bucket = 0; seen < wanted; ++bucket) {
    const uint64_t taken = std::min(buckets_[bucket], wanted - seen);
    const uint64_t end = EndOf(bucket);
    const uint64_t begin = bucket == 0 ? 0 : EndOf(bucket - 1) + 1;
    sum += static_cast<double>(taken) * (static_cast<double>(begin) + static_cast<double>(end)) / 2;
    seen += taken;
  }
  return wanted == 0 ? 0 : sum / static_cast<double>(wanted);
}

int64_t Histogram::Percentile(double fraction) const {
  const auto wanted = static_cast<uint64_t>(std::ceil(fraction * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size() && count_ > 0; ++bucket) {
    seen += buckets_[bucket];
    if (seen >= std::max<uint64_t>(wanted, 1)) {
      return std::min(static_cast<int64_t>(EndOf(bucket)), max_);
    }
  }
  return max_;
}

double Histogram::ShareUpTo(int64_t value) const {
  if (count_ == 0) return 0;
  if (value >= max_) return 1;
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (EndOf(bucket) > static_cast<uint64_t>(std::max<int64_t>(value, 0))) break;
    seen += buckets_[bucket];
  }
  return static_cast<double>(seen) / static_cast<double>(count_);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    buckets_[bucket] += other.buckets_[bucket];
  }
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

void Histogram::Clear() {
  std::fill(buckets_.begin(), buckets_.end(), 0);
  count_ = 0;
  max_ = 0;
  sum_ = 0;
}

}  // namespace nereid::bench
