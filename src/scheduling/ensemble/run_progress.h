// RunProgress: which steps of a request to an ensemble may start, given the tensors that have
// arrived. No lock, no clock, no tensor data. Thread-compatible. Owned by its EnsembleRun.
#ifndef NEREID_SCHEDULING_ENSEMBLE_RUN_PROGRESS_H_
#define NEREID_SCHEDULING_ENSEMBLE_RUN_PROGRESS_H_

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <map>

#include "scheduling/ensemble/step_graph.h"

namespace nereid {

// One execution of a step.
struct StepRun {
  uint32_t step;
  uint32_t iteration;
  bool admitted = false;  // counts among those that EnsembleRun limits
  bool gated = false;     // counts among those that StepGate limits
};
using StepRuns = absl::InlinedVector<StepRun, 4>;

class RunProgress {
 public:
  // `graph` and `plan` outlive this.
  RunProgress(const StepGraph& graph, const StepPlan& plan);

  // A value of a tensor has arrived. Appends to `start` the executions that may start now, and to
  // `complete` the iterations for which all wanted outputs have arrived now. REQUIRES: called once
  // per value.
  void Arrive(uint32_t tensor, uint32_t iteration, StepRuns* start,
              absl::InlinedVector<uint32_t, 1>* complete);
  // An execution that was in a `start` list has ended.
  void Finish() { --under_way_; }
  // Nothing starts any more.
  void Abandon() { abandoned_ = true; }

  // Executions that may start or run and have not ended.
  uint32_t under_way() const { return under_way_; }
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

  template <typename Complete>
  static void Gather(Gathering* gathering, bool moving, uint32_t iteration,
                     const Complete& complete);

  const StepGraph& graph_;
  absl::InlinedVector<Gathering, 4> steps_;  // by step
  Gathering outputs_;
  absl::InlinedVector<uint8_t, 4> runs_;    // by step
  absl::InlinedVector<uint8_t, 4> wanted_;  // by output of the ensemble
  absl::InlinedVector<uint8_t, 4> came_;    // by output of the ensemble
  uint32_t under_way_ = 0;
  bool abandoned_ = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_RUN_PROGRESS_H_
