// SPDX-License-Identifier: Apache-2.0
#include "simulation/autoscaler.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

namespace nereid {
namespace {

// In one decision, the number of nodes at most doubles, or grows by so many.
constexpr uint32_t kMostAdded = 4;

// Numbers that differ by less are equal, because 0.1 * 30 is a little more than 3.
constexpr double kHair = 1e-9;

uint32_t Ceiling(double nodes, uint32_t most) {
  return static_cast<uint32_t>(std::min<double>(std::ceil(nodes - kHair), most));
}

}  // namespace

absl::Status Autoscaler::Check(const AutoscalerOptions& options) {
  if (options.least == 0 || options.least > options.most) {
    return absl::InvalidArgumentError(
        absl::StrCat("an autoscaler has from ", options.least, " to ", options.most,
                     " nodes; the least must be 1, and at most the most"));
  }
  if (!(options.target > 0) || !std::isfinite(options.target)) {
    return absl::InvalidArgumentError("the target of an autoscaler must be more than 0 requests");
  }
  if (options.interval <= Duration(0) || options.stabilization < Duration(0)) {
    return absl::InvalidArgumentError("an autoscaler's interval must be more than 0 seconds");
  }
  return absl::OkStatus();
}

uint32_t Autoscaler::Recommend(const FleetSight& sight) const {
  const uint32_t now = sight.ready + sight.starting;
  const double ratio = sight.gauge / options_.target;
  if (std::abs(ratio - 1) <= options_.tolerance + kHair || sight.ready == 0) return now;
  if (ratio < 1 || sight.starting == 0) return Ceiling(ratio * sight.ready, options_.most);
  // Nodes that start count as if they had nothing to do, so that they are not asked for twice.
  const double with_starting = ratio * sight.ready / now;
  if (with_starting <= 1 + options_.tolerance + kHair) return now;
  return Ceiling(with_starting * now, options_.most);
}

uint32_t Autoscaler::Decide(uint64_t now_ns, const FleetSight& sight) {
  const uint32_t now = sight.ready + sight.starting;
  const uint32_t recommended = std::clamp(Recommend(sight), options_.least, options_.most);
  if (wanted_.empty()) wanted_.emplace_back(now_ns, now);  // somebody wanted those that are there
  while (!wanted_.empty() && wanted_.back().second <= recommended) wanted_.pop_back();
  wanted_.emplace_back(now_ns, recommended);
  const auto window = static_cast<uint64_t>(options_.stabilization.count());
  while (wanted_.size() > 1 && wanted_.front().first + window <= now_ns) wanted_.pop_front();
  if (recommended >= now) return std::min(recommended, std::max(2 * now, now + kMostAdded));
  // What was wanted in the window keeps nodes, but adds none.
  return std::min(std::max(recommended, wanted_.front().second), now);
}

}  // namespace nereid
