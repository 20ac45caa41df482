// SPDX-License-Identifier: Apache-2.0
// What `nereid capacity` says. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_TEXT_H_
#define NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_TEXT_H_

#include <string>

#include "capacity/capacity.h"
#include "capacity/capacity_options.h"

namespace nereid {

// The node, what it serves alone, and the fleet under the load.
std::string CapacityText(const CapacityOptions& options, const CapacityResult& result);
// The same as JSON, times in microseconds and seconds.
std::string CapacityJson(const CapacityOptions& options, const CapacityResult& result);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_TEXT_H_
