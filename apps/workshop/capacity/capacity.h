// SPDX-License-Identifier: Apache-2.0
// Capacity: what one node serves, and what several do under a load, by simulations with measured
// times. Functions; one reads files, the others are pure.
#ifndef NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_H_
#define NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "capacity/capacity_options.h"
#include "config/compiled_model.h"
#include "simulation/fleet.h"
#include "tune/candidate.h"
#include "tune/prediction.h"
#include "tune/service_times.h"

namespace nereid {

// The model of a node, and what is known of it.
struct MeasuredNode {
  CompiledModel model;
  Candidate candidate;
  ServiceTimes times;
  double memory_mib = 0;  // of the server; 0: was not measured with so many instances
};

// A part of the simulated time.
struct FleetPeriod {
  double from_seconds = 0;
  double rate = 0;    // requests that came, per second
  double ready = 0;   // nodes, in the mean
  double all = 0;     // with those that start or drain
  double p99_us = 0;  // of the requests that came; 0: none was answered
  size_t late = 0;    // of these, over the goal or unserved
};

// A fleet under the load.
struct FleetRow {
  uint32_t nodes = 0;  // at the beginning
  FleetSummary summary;
  double p50_us = 0, p99_us = 0;
  double node_seconds = 0;
  bool keeps_goal = false;
};

struct CapacityResult {
  MeasuredNode node;
  std::vector<Performance> alone;  // one node under closed loops of 1, 2, 4, ... clients

  // Under the load, if there is one.
  size_t requests = 0;
  double seconds = 0;                // from the first arrival to the last answer, of the last row
  std::vector<FleetRow> rows;        // by nodes; one, unless the fewest nodes were looked for
  std::optional<size_t> chosen;      // of these, the fewest nodes that keep the goal
  std::vector<FleetPeriod> periods;  // of the only row
};

// From the state of `nereid tune`. INVALID_ARGUMENT names the file.
absl::StatusOr<MeasuredNode> ReadMeasuredNode(const CapacityOptions& options);

// INVALID_ARGUMENT: what the model or the simulation does not allow.
absl::StatusOr<CapacityResult> FindCapacity(const CapacityOptions& options, MeasuredNode node);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_H_
