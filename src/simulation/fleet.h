// SPDX-License-Identifier: Apache-2.0
// SimulateFleet: nodes that serve the same model behind a balancer, on one timeline. Each node runs
// the scheduler that serves the real model. The same input gives the same result. Stateless.
//
// A node that is added is ready when its start is over. One that is taken away gets no more
// requests and is gone when it has answered those that it has. Of several, those that start are
// taken first, then the youngest.
#ifndef NEREID_SIMULATION_FLEET_H_
#define NEREID_SIMULATION_FLEET_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/export.h"
#include "config/compiled_model.h"
#include "simulation/autoscaler.h"
#include "simulation/workload.h"

namespace nereid {

// Which ready node gets a request: the next one in turn, or the one with the fewest in flight, of
// several such nodes the next one in turn.
enum class Balancer { kRoundRobin, kLeastInFlight };

struct FleetOptions {
  static constexpr uint32_t kMostNodes = 1000;

  uint32_t nodes = 1;  // that are ready at the beginning
  Balancer balancer = Balancer::kRoundRobin;
  std::optional<AutoscalerOptions> autoscaler;  // none: the number of nodes stays
  Duration start{0};                            // of a node that is added
  // Requests in flight on all nodes at most; more are refused. Bounds the memory of a simulation of
  // too few nodes.
  size_t most_in_flight = 100'000;
  size_t most_requests = 5'000'000;  // of the load; each takes some 100 bytes
  // Makes the machine of a node.
  std::function<std::unique_ptr<MachineModel>()> make_machine;
};

// What became of a request.
struct FleetOutcome {
  FlightOutcome outcome = FlightOutcome::kError;
  uint32_t node = 0;  // by number, from 0 in the order in which nodes were added
  uint64_t ended_ns = 0;
};

// How many nodes there are from a moment on.
struct NodeCount {
  uint64_t at_ns = 0;
  uint32_t ready = 0, starting = 0, draining = 0;

  uint32_t all() const { return ready + starting + draining; }
};

struct FleetResult {
  std::vector<FleetOutcome> requests;  // by number
  std::vector<NodeCount> counts;       // steps; the first is that of the beginning, at 1 ns
  uint64_t ended_ns = 0;               // the last answer, or the last arrival if that is later
  uint64_t executions = 0;
  uint64_t executed = 0;        // requests
  double busy_seconds = 0;      // of all instances: executing
  double instance_seconds = 0;  // of all instances of nodes that are ready or drain
  double node_seconds = 0;      // from the decision to add a node until it is gone
};

// `load`: by arrival. The response cache and the rate limiter are off. INVALID_ARGUMENT: what
// Simulate refuses, a model with sequences, no machine, and numbers beyond the bounds above.
NEREID_API absl::StatusOr<FleetResult> SimulateFleet(const CompiledModel& config,
                                                     const std::vector<SimulatedRequest>& load,
                                                     const FleetOptions& options);

// Of the requests that were executed, in nanoseconds.
struct FleetSummary {
  size_t answered = 0;
  size_t unserved = 0;  // refused, timed out or never answered
  size_t late = 0;      // answered after more than `goal_ns`
  uint64_t p50_ns = 0, p99_ns = 0;
  double mean_batch = 0;  // requests of an execution
  double throughput = 0;  // answered per second, from the first arrival to the end
  double busy = 0;        // share of their time that instances execute
  uint32_t most_nodes = 0;
};

// `goal_ns`: 0: there is none, and nothing is late.
NEREID_API FleetSummary Summarise(const std::vector<SimulatedRequest>& load,
                                  const FleetResult& result, uint64_t goal_ns);

}  // namespace nereid

#endif  // NEREID_SIMULATION_FLEET_H_
