// SPDX-License-Identifier: Apache-2.0
#include "bench/confidence.h"

#include <cmath>
#include <iterator>
#include <limits>

namespace nereid::bench {

double StudentQuantile(size_t degrees) {
  // Of 1, 2, ... degrees.
  static constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                          2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                          2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                          2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees == 0) return std::numeric_limits<double>::infinity();
  if (degrees <= std::size(kQuantiles)) return kQuantiles[degrees - 1];
  // The beginning of the expansion around the normal distribution: right to three digits from 30
  // degrees on.
  constexpr double kNormal = 1.959964;
  return kNormal + (kNormal * kNormal * kNormal + kNormal) / (4 * static_cast<double>(degrees));
}

double RelativeHalfWidth(absl::Span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  if (values.size() < 2 || !(mean > 0)) return std::numeric_limits<double>::infinity();
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  return StudentQuantile(values.size() - 1) * deviation / std::sqrt(count) / mean;
}

}  // namespace nereid::bench
