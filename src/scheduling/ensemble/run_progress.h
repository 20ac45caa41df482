// RunProgress: which steps of a request to an ensemble may start, given the tensors that have
// arrived. No lock, no clock (callers pass the time), no tensor data. Thread-compatible. Owned by
// its EnsembleRun.
#ifndef NEREID_SCHEDULING_ENSEMBLE_RUN_PROGRESS_H_
#define NEREID_SCHEDULING_ENSEMBLE_RUN_PROGRESS_H_

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <list>
#include <map>

#include "base/clock.h"
#include "scheduling/ensemble/step_graph.h"

namespace nereid {

// One execution of a step.
struct StepRun {
  uint32_t step;
  uint32_t iteration;
  bool admitted = false;  // counts among those that EnsembleRun limits
};
using StepRuns = absl::InlinedVector<StepRun, 4>;

class RunProgress {
 public:
  // `graph` and `plan` outlive this. `max_inflight`: executions of a step at a time; 0: any number.
  RunProgress(const StepGraph& graph, const StepPlan& plan, uint32_t max_inflight);

  // A value of a tensor has arrived, at `now`. Appends to `start` the executions that may start
  // now, and to `complete` the iterations for which all wanted outputs have arrived now. `now` does
  // not matter if nothing is ever parked. REQUIRES: called once per value.
  void Arrive(uint32_t tensor, uint32_t iteration, TimePoint now, StepRuns* start,
              absl::InlinedVector<uint32_t, 1>* complete);
  // An execution that was in a `start` list has ended; one that is parked may start.
  void Finish(uint32_t step, StepRuns* start);
  // Starts the executions that were parked at `since` or before, in addition to those under way.
  void StartParked(TimePoint since, StepRuns* start);
  // Nothing starts any more.
  void Abandon();

  // Executions that may start or run and have not ended, including those that are parked.
  uint32_t under_way() const { return under_way_; }
  uint32_t parked() const { return parked_; }
  // Since when the first of the parked executions waits. REQUIRES: one is parked.
  TimePoint parked_since() const;
  // Whether no value of wanted output `index` of the plan has arrived.
  bool Lacks(const StepPlan& plan, uint32_t index) const { return !came_[plan.outputs[index]]; }

 private:
  // What is missing until an iteration is complete: values that exist once, and values that each
  // iteration has.
  struct Gathering {
    uint32_t fixed_missing = 0;
    uint32_t moving_needed = 0;
    std::map<uint32_t, uint32_t> moving_here = {};  // arrived values, by incomplete iteration
  };
  struct Parked {
    uint32_t iteration;
    TimePoint since;
  };
  struct StepState {
    Gathering inputs;
    uint32_t active = 0;
    std::list<Parked> parked = {};
  };

  template <typename Complete>
  static void Gather(Gathering* gathering, bool moving, uint32_t iteration,
                     const Complete& complete);
  void Ready(uint32_t step, uint32_t iteration, TimePoint now, StepRuns* start);
  // Starts the first parked execution of `step`.
  void StartFirst(uint32_t step, StepRuns* start);

  const StepGraph& graph_;
  const uint32_t max_inflight_;
  absl::InlinedVector<StepState, 4> steps_;
  Gathering outputs_;
  absl::InlinedVector<uint8_t, 4> runs_;    // by step
  absl::InlinedVector<uint8_t, 4> wanted_;  // by output of the ensemble
  absl::InlinedVector<uint8_t, 4> came_;    // by output of the ensemble
  uint32_t under_way_ = 0;
  uint32_t parked_ = 0;
  bool abandoned_ = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_RUN_PROGRESS_H_
