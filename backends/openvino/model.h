// SPDX-License-Identifier: Apache-2.0
// OpenVinoModel: one loaded version of a model: its configuration, the compiled model and the
// tensors that a run takes and returns. Immutable after Create; thread-safe.
//
// All instances share the compiled model, which holds the weights and the threads.
#ifndef NEREID_BACKENDS_OPENVINO_MODEL_H_
#define NEREID_BACKENDS_OPENVINO_MODEL_H_

#include <memory>
#include <mutex>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/core.hpp>
#include <span>
#include <string>
#include <vector>

#include "backends/openvino/compile_request.h"
#include "backends/openvino/environment.h"
#include "backends/openvino/initial_states.h"
#include "backends/sdk/error.h"
#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

class RunPool;

// A graph for batches of one size.
struct FixedBatch {
  int64_t rows = 0;
  ov::CompiledModel compiled;
};

class OpenVinoModel {
 public:
  // Reads and compiles the file, completes the configuration if the server asks for it, and checks
  // it.
  static Result<std::unique_ptr<OpenVinoModel>> Create(TRITONBACKEND_Model* model);
  ~OpenVinoModel();

  const ModelConfig& config() const { return config_; }
  const Environment& environment() const { return environment_; }
  const BoundModel& bound() const { return *bound_; }
  // A new infer request for batches of any size. REQUIRES: the environment's setup mutex is held.
  // May throw ov::Exception.
  ov::InferRequest NewInferRequest() const;
  // The graphs for batches of some sizes.
  std::span<FixedBatch> fixed_batches() const { return fixed_batches_; }
  // To be locked while a run computes: one at a time, whatever its graph, so that there are not
  // more threads than those of one graph. Nothing is locked where the runtime sees to that itself.
  [[nodiscard]] std::unique_lock<std::mutex> TakeTurn() const {
    return fixed_batches_.empty() ? std::unique_lock<std::mutex>()
                                  : std::unique_lock<std::mutex>(turn_);
  }

  // The model's port for an input (RunInput::index) and for an output (RunOutput::index).
  size_t input_port(size_t index) const { return input_ports_[index]; }
  size_t output_port(size_t index) const { return output_ports_[index]; }
  const std::vector<ov::Output<const ov::Node>>& outputs() const { return compiled_.outputs(); }

  // True if the network keeps states itself (ReadValue, Assign).
  bool has_states() const { return state_count_ > 0; }
  // REQUIRES: has_states().
  const InitialStates& initial_states() const { return *initial_states_; }
  // Whether results may be written directly into the responses' buffers. Not for models with
  // states, which would be advanced twice if a run is repeated, nor for models in which an output
  // is an input: the runtime then uses the memory set for one as that of the other.
  bool writes_in_place() const { return state_count_ == 0 && !passes_inputs_through_; }
  // Whether requests belong to sequences.
  bool has_sequences() const { return config_.json.Has("sequence_batching"); }
  bool terminates_late_runs() const { return request_.terminate_late_runs; }
  int64_t sequence_states() const { return request_.sequence_states; }

  // Set if several runs may be in progress at a time; null if an instance runs one after the other.
  RunPool* pool() const { return pool_.get(); }

 private:
  OpenVinoModel(const Environment& environment, ModelConfig config);

  Error Load(TRITONBACKEND_Model* handle);
  // Reads the file and gives the model the shapes in the configuration.
  Error Read();
  Error AutoComplete(TRITONBACKEND_Model* handle);
  // The name and shape of a state whose first dimension is fixed; empty if there is none.
  std::string FixedState() const;
  // INVALID_ARG if the model's states do not allow what the configuration requests.
  Error CheckStates() const;
  // Takes outputs that the configuration leaves out from the graph, so that nothing computes them.
  Error DropUnservedOutputs();
  Error Compile();
  void FindPorts();
  Error MakePool();
  Error CompileFixedBatches();
  void LogPlan() const;

  const Environment& environment_;
  ModelConfig config_;
  std::string path_;
  CompileRequest request_;
  std::shared_ptr<ov::Core> core_;
  std::shared_ptr<ov::Model> graph_;  // until all is compiled
  size_t state_count_ = 0;
  Signature signature_;
  std::unique_ptr<InitialStates> initial_states_;  // only for a model with states
  bool passes_inputs_through_ = false;
  mutable ov::CompiledModel compiled_;  // making infer requests is thread-safe, though not const
  mutable std::vector<FixedBatch> fixed_batches_;
  mutable std::mutex turn_;
  std::unique_ptr<BoundModel> bound_;
  std::vector<size_t> input_ports_;
  std::vector<size_t> output_ports_;
  std::unique_ptr<RunPool> pool_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_MODEL_H_
