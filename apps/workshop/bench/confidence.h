// SPDX-License-Identifier: Apache-2.0
// Confidence intervals of means. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_CONFIDENCE_H_
#define NEREID_APPS_WORKSHOP_BENCH_CONFIDENCE_H_

#include <absl/types/span.h>

#include <cstddef>

namespace nereid::bench {

// The value that a variable with Student's distribution of `degrees` of freedom exceeds, in either
// direction, in 5 % of cases. Infinite for 0 degrees.
double StudentQuantile(size_t degrees);

// Half the width of the 95 % confidence interval of the mean of `values`, as a share of that mean.
// The values have to be independent of each other: means over windows of time, not the times of
// single requests. Infinite for fewer than two values, or for a mean of 0.
double RelativeHalfWidth(absl::Span<const double> values);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_CONFIDENCE_H_
