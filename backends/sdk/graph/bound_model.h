// SPDX-License-Identifier: Apache-2.0
// BoundModel: the result of matching a configuration with a model's signature: the tensors that a
// run takes and returns, with the source or destination of each. Immutable after Bind except for
// one atomic flag; thread-safe.
#ifndef NEREID_BACKENDS_SDK_GRAPH_BOUND_MODEL_H_
#define NEREID_BACKENDS_SDK_GRAPH_BOUND_MODEL_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/batch_input.h"
#include "backends/sdk/error.h"
#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// A tensor of the model that takes part in serving.
struct BoundTensor {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  size_t element_size = 0;  // 0: BYTES
  // With the batch dimension. For a ragged input: the shape in a request; otherwise as in
  // ModelTensor.
  Shape dims;
  bool any_shape = false;  // the model does not specify it; `dims` is empty

  // Inputs only.
  bool ragged = false;    // the model receives all requests' elements as one dimension
  bool optional = false;  // the file has a value for requests that omit it

  // Outputs only.
  bool is_output = true;     // clients can request it
  bool is_state = false;     // holds the next state of a sequence
  bool predictable = false;  // its shape follows from the number of rows
  // The shape in which clients see a scalar: the configured dims.
  Shape scalar_shape = {1};
  // Set if the output holds the results of all requests end to end: the index in inputs() of the
  // input whose shapes divide it, and the dims of a part, without the batch dimension.
  std::optional<size_t> scatter_by;
  Shape scatter_dims;
};

// An input of the model that is computed from the shapes of another input in a batch.
struct ComputedInput {
  BoundTensor tensor;
  BatchInput rule;
  size_t source = 0;  // index in inputs()
};

class BoundModel {
 public:
  // REQUIRES: CheckConfig(config, signature) passed. INVALID_ARG for batch inputs and outputs that
  // no server lets through.
  static Result<std::unique_ptr<BoundModel>> Bind(const ModelConfig& config,
                                                  const Signature& signature);

  bool batching() const { return batching_; }
  const std::vector<BoundTensor>& inputs() const { return inputs_; }
  const std::vector<ComputedInput>& computed_inputs() const { return computed_inputs_; }
  const std::vector<BoundTensor>& outputs() const { return outputs_; }

  // Whether outputs had the shapes that the model declares. Some files declare wrong shapes, so
  // predictions are trusted only after a run has confirmed them.
  enum class ShapeTrust : int { kUnknown, kConfirmed, kRefuted };
  ShapeTrust shape_trust() const { return shape_trust_.load(std::memory_order_relaxed); }
  void set_shape_trust(ShapeTrust trust) const {
    shape_trust_.store(trust, std::memory_order_relaxed);
  }

 private:
  explicit BoundModel(bool batching) : batching_(batching) {}

  Error BindInputs(const ModelConfig& config, const Signature& signature);
  Error BindOutputs(const ModelConfig& config, const Signature& signature);
  // Index in inputs_ of an input of the configuration, which CheckConfig found in the file.
  size_t InputIndex(std::string_view name) const;

  const bool batching_;
  std::vector<BoundTensor> inputs_;
  std::vector<ComputedInput> computed_inputs_;
  std::vector<BoundTensor> outputs_;
  mutable std::atomic<ShapeTrust> shape_trust_{ShapeTrust::kUnknown};
};

// Shape that a predictable output has for `rows` rows.
Shape PredictedShape(const BoundTensor& tensor, bool batching, int64_t rows);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_BOUND_MODEL_H_
