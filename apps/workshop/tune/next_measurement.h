// SPDX-License-Identifier: Apache-2.0
// Which configuration is worth measuring next. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_NEXT_MEASUREMENT_H_
#define NEREID_APPS_WORKSHOP_TUNE_NEXT_MEASUREMENT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "tune/choice.h"

namespace nereid {

// How much a measurement of one says about the other: from 0 to 1, for the same configuration.
double Likeness(const Configuration& a, const Configuration& b);

// The number of the one to measure next; none if all were measured. The best one by its prediction,
// which is corrected by how wrong the simulation was for what was measured, the more, the more
// alike they are. What is like nothing that was measured counts for a little more, because nothing
// is known of it but the prediction.
std::optional<size_t> NextToMeasure(const std::vector<Judged>& all, const Goal& goal);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_NEXT_MEASUREMENT_H_
