// SPDX-License-Identifier: Apache-2.0
// ServiceCurve: how long one execution of a model takes, as a function of the units in its batch;
// learned from what was measured. Pure: takes no lock, reads no clock, allocates only when it is
// made. Thread-compatible; owned by an AdaptivePolicy.
//
// Every size up to 32 has its own node; larger sizes share 16 nodes per octave. A node keeps the
// smoothed time of its size. For nodes with few or only old measurements, a straight line through
// all sizes, fitted with decaying weights, gives the estimate. So when a model's times change, the
// new ones are known after a few dozen executions.
#ifndef NEREID_SCHEDULING_ADAPTIVE_SERVICE_CURVE_H_
#define NEREID_SCHEDULING_ADAPTIVE_SERVICE_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace nereid {

class ServiceCurve {
 public:
  // REQUIRES: max_units >= 1, the largest batch.
  explicit ServiceCurve(uint64_t max_units);

  // A batch of `units` has occupied an instance for `took`.
  void Record(uint64_t units, Duration took);

  // False until something was recorded; the estimates are 0 until then.
  bool known() const { return recorded_ > 0; }
  // The time that a batch of `units` typically takes.
  Duration Typical(uint64_t units) const { return Duration(static_cast<int64_t>(At(units))); }
  // The same time with the usual deviations added.
  Duration Cautious(uint64_t units) const {
    return Duration(static_cast<int64_t>(At(units) * (1 + 2 * deviation_)));
  }
  // The largest batch whose time per unit is within 3 % of the lowest.
  uint64_t efficient_units() const { return efficient_; }

 private:
  struct Node {
    uint64_t units = 0;
    double nanos = 0;          // smoothed
    double weight = 0;         // measurements behind it, up to kMaxWeight
    uint64_t recorded_at = 0;  // value of recorded_
    double estimate = 0;       // together with the line
  };
  // A straight line through what was recorded, by least squares with decaying weights.
  struct Line {
    double weight = 0, x = 0, y = 0, xx = 0, xy = 0;  // decayed sums
    double base = 0, slope = 0;

    void Add(double units, double nanos);
    double At(double units) const { return base + slope * units; }
  };

  size_t IndexOf(uint64_t units) const;
  double At(uint64_t units) const;
  void Refresh();

  std::vector<Node> nodes_;  // ascending units; the last is max_units
  Line line_;
  uint64_t recorded_ = 0;
  double deviation_ = 0.05;  // mean, relative
  uint64_t efficient_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_SERVICE_CURVE_H_
