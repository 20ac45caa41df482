// SPDX-License-Identifier: Apache-2.0
// Autoscaler: how many nodes a fleet should have, by the rules of the HorizontalPodAutoscaler of
// Kubernetes. Thread-compatible.
#ifndef NEREID_SIMULATION_AUTOSCALER_H_
#define NEREID_SIMULATION_AUTOSCALER_H_

#include <absl/status/status.h>

#include <cstdint>
#include <deque>
#include <utility>

#include "base/clock.h"

namespace nereid {

struct AutoscalerOptions {
  // Which number of a node is kept near the target.
  enum class Gauge { kInFlight, kQueued };

  Gauge gauge = Gauge::kInFlight;
  double target = 1;                             // of a node, in requests
  Duration interval = std::chrono::seconds(15);  // between two decisions
  double tolerance = 0.1;                        // a gauge so near the target changes nothing
  // Nodes are taken away when so long no decision has wanted more.
  Duration stabilization = std::chrono::seconds(300);
  uint32_t least = 1;
  uint32_t most = 1;
};

// What the autoscaler sees.
struct FleetSight {
  uint32_t ready = 0;
  uint32_t starting = 0;
  double gauge = 0;  // mean of the ready nodes
};

class Autoscaler {
 public:
  explicit Autoscaler(const AutoscalerOptions& options) : options_(options) {}

  // INVALID_ARGUMENT names the option that makes no sense.
  static absl::Status Check(const AutoscalerOptions& options);

  // How many nodes there should be, ready or starting. Called at times that never go back.
  uint32_t Decide(uint64_t now_ns, const FleetSight& sight);

 private:
  // Without a memory of former decisions.
  uint32_t Recommend(const FleetSight& sight) const;

  const AutoscalerOptions options_;
  // Time and number of former recommendations, as far as no later one was as high: the earliest is
  // the highest.
  std::deque<std::pair<uint64_t, uint32_t>> wanted_;
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_AUTOSCALER_H_
