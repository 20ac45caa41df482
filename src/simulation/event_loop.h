// SPDX-License-Identifier: Apache-2.0
// EventLoop: plays the clients of one simulated node. Thread-compatible.
#ifndef NEREID_SIMULATION_EVENT_LOOP_H_
#define NEREID_SIMULATION_EVENT_LOOP_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/timer.h"
#include "simulation/simulated_clock.h"
#include "simulation/simulated_model.h"
#include "simulation/simulated_node.h"
#include "simulation/workload.h"

namespace nereid {

class EventLoop final : private NodeListener {
 public:
  // `config`, `load` and `machine` outlive this. With `clients`, requests arrive in the order of
  // `load` when a client is free; otherwise as `load` says.
  EventLoop(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
            MachineModel* machine, std::optional<ClosedLoop> clients = std::nullopt);

  // The timer of the scheduler that `make` has to make, and its clock.
  Timer* timer() { return node_->timer(); }
  Clock* clock() { return &clock_; }

  // When requests have arrived, by number.
  const std::vector<uint64_t>& arrivals() const { return arrivals_; }

  // REQUIRES: called once. Errors as of Simulate, and of `make`.
  absl::StatusOr<SimulationResult> Run(const SchedulerMaker& make);

 private:
  void OnBatch(SimulatedBatch batch) override;
  void OnEnded(uint32_t number, FlightOutcome outcome) override;
  // The time of the next event; none: nothing will happen any more.
  std::optional<uint64_t> NextEvent() const;

  const CompiledModel& config_;
  const std::vector<SimulatedRequest>& load_;
  MachineModel* const machine_;
  const std::optional<ClosedLoop> clients_;
  std::vector<uint64_t> arrivals_;  // by number, as far as they are known
  SimulatedClock clock_;
  size_t arrived_ = 0;
  bool stopping_ = false;
  SimulationResult result_;
  std::unique_ptr<SimulatedNode> node_;  // last: tells of its end
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_EVENT_LOOP_H_
