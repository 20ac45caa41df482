// SPDX-License-Identifier: Apache-2.0
// StepGraph: the steps of one ensemble and the tensors between them, by number. StepPlan: the part
// of the graph that runs for a request. Both are immutable; a plan has no pointers to its graph.
//
// A decoupled step answers any number of times, and each answer is one *iteration* of the steps
// after it. A tensor that does not come from such a step exists once, as iteration 0, and is used
// in all iterations. RunProgress tells which steps of a request may start.
#ifndef NEREID_SCHEDULING_ENSEMBLE_STEP_GRAPH_H_
#define NEREID_SCHEDULING_ENSEMBLE_STEP_GRAPH_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/compiled_model.h"

namespace nereid {

struct StepPlan {
  // Uses of a tensor that are not counted, because the number of iterations is not known.
  static constexpr uint32_t kUncounted = UINT32_MAX;

  std::vector<uint8_t> runs;  // by step: whether a wanted output needs it
  uint32_t step_count = 0;    // steps that run
  std::vector<uint32_t>
      uses;  // by tensor: inputs of steps that read it, and outputs, of each value
  std::vector<uint32_t> outputs;        // wanted outputs, as indices of the ensemble's outputs
  std::vector<uint32_t> fixed_inputs;   // by step: input tensors that have one value
  std::vector<uint32_t> moving_inputs;  // by step: input tensors with a value per iteration
  uint32_t fixed_outputs = 0;           // the same for the wanted outputs
  uint32_t moving_outputs = 0;
  bool decoupled = false;  // whether a step that runs is decoupled
};

class StepGraph {
 public:
  struct Port {
    std::string name;  // of the model's input or output
    uint32_t tensor;
  };
  struct Step {
    EnsembleStep spec;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    bool decoupled = false;
    bool iterated = false;  // runs once per answer of a decoupled step before it
  };
  struct Tensor {
    std::string name;
    std::vector<uint32_t> readers;  // steps, once for each input
    int32_t writer = -1;            // step; -1: an input of the ensemble
    bool iterated = false;          // has a value per answer of a decoupled step
    int32_t output = -1;            // index of the ensemble's output that it is; -1: none
  };

  // `decoupled`: by step, whether it is decoupled. INVALID_ARGUMENT: as DecoupledOrigins (config/).
  // REQUIRES: the ensemble's configuration was checked.
  static absl::StatusOr<StepGraph> Make(const CompiledModel& ensemble,
                                        const std::vector<bool>& decoupled);

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // By index of the ensemble's inputs and outputs.
  const std::vector<uint32_t>& inputs() const { return inputs_; }
  const std::vector<uint32_t>& outputs() const { return outputs_; }
  // Whether an input of the ensemble has several uses.
  bool shares_inputs() const;

  // The plan for all outputs, and for some of them (ascending indices).
  const StepPlan& full_plan() const { return full_plan_; }
  StepPlan PlanFor(absl::Span<const uint32_t> outputs) const;

 private:
  uint32_t TensorOf(const std::string& name);
  void MarkNeeded(uint32_t tensor, StepPlan* plan) const;

  std::vector<Step> steps_;
  std::vector<Tensor> tensors_;
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> outputs_;
  StepPlan full_plan_;
};

// One execution of a step.
struct StepRun {
  uint32_t step;
  uint32_t iteration;
  bool admitted = false;  // counts among those that EnsembleRun limits
  bool gated = false;     // counts among those that StepGate limits
};
using StepRuns = absl::InlinedVector<StepRun, 4>;

// Which steps of a request to an ensemble may start, given the tensors that have arrived. No lock,
// no clock, no tensor data. Thread-compatible. Owned by its EnsembleRun.
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

#endif  // NEREID_SCHEDULING_ENSEMBLE_STEP_GRAPH_H_
