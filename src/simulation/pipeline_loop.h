// SPDX-License-Identifier: Apache-2.0
// PipelineLoop: plays the clients of an ensemble, and carries requests from step to step between
// the simulated nodes of its models. Thread-compatible.
#ifndef NEREID_SIMULATION_PIPELINE_LOOP_H_
#define NEREID_SIMULATION_PIPELINE_LOOP_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/pipeline.h"
#include "simulation/simulated_clock.h"
#include "simulation/simulated_node.h"

namespace nereid {

class PipelineLoop {
 public:
  // All outlive this.
  PipelineLoop(const Pipeline& pipeline, const PipelineMachines& machines,
               const std::optional<ClosedLoop>& clients, const std::vector<SimulatedRequest>& load);
  ~PipelineLoop();

  // When requests have arrived, by number.
  const std::vector<uint64_t>& arrivals() const { return arrivals_; }

  // REQUIRES: called once.
  absl::StatusOr<SimulationResult> Run();

 private:
  class Member;
  // How far a request is.
  struct Progress {
    std::vector<size_t> missing;  // by step: how many steps have to be done before
    size_t left = 0;              // steps that are not done
  };
  struct Arrival {
    size_t step;
    uint32_t request;
  };

  absl::Status StartMembers();
  std::optional<uint64_t> NextEvent() const;
  // Everything that happens now.
  void Proceed();
  // Lets requests into the first steps that have arrived, and for which the machine has time.
  void Admit();
  void Begin(uint32_t request);
  void StepEnded(size_t step, uint32_t request, FlightOutcome outcome);
  void RequestEnded(uint32_t request, FlightOutcome outcome);

  const Pipeline& pipeline_;
  const PipelineMachines& machines_;
  const std::optional<ClosedLoop>& clients_;
  const std::vector<SimulatedRequest>& load_;
  std::vector<std::vector<size_t>> steps_after_;  // by step: those that wait for it
  std::vector<uint64_t> arrivals_;                // by number, as far as they are known
  SimulatedClock clock_;
  size_t arrived_ = 0;
  std::deque<std::pair<uint64_t, uint32_t>> held_up_;  // when requests reach the first steps
  std::deque<Arrival> ready_;                          // steps that can run now
  std::vector<Progress> progress_;                     // by request
  bool stopping_ = false;
  SimulationResult result_;
  std::vector<std::unique_ptr<Member>> members_;  // last: they tell of their end
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_PIPELINE_LOOP_H_
