// StepGraph: the steps of one ensemble and the tensors between them, by number. StepPlan: the part
// of the graph that runs for a request. Both are immutable; a plan has no pointers to its graph.
//
// A decoupled step answers any number of times, and each answer is one *iteration* of the steps
// after it. A tensor that does not come from such a step exists once, as iteration 0, and is used
// in all iterations.
#ifndef NEREID_SCHEDULING_ENSEMBLE_STEP_GRAPH_H_
#define NEREID_SCHEDULING_ENSEMBLE_STEP_GRAPH_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
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

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_STEP_GRAPH_H_
