// OnnxModel: one loaded version of an ONNX model: its configuration, its session and the tensors
// that a Run takes and gives. Immutable after Create but for one atomic flag; thread-safe.
//
// All instances of a model share one session. Run is thread-safe in ONNX Runtime, and a session
// holds the weights, so a session for each instance would multiply the memory by the instances and
// gain nothing on a CPU.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_MODEL_H_
#define NEREID_BACKENDS_ONNXRUNTIME_MODEL_H_

#include <onnxruntime_cxx_api.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/onnxruntime/signature.h"
#include "backends/sdk/batch_input.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// A tensor of the session that takes part in serving.
struct BoundTensor {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  ONNXTensorElementDataType onnx_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t element_size = 0;  // 0: BYTES
  // With the batch dimension. Of a ragged input: what a request brings; otherwise as in Signature.
  Shape dims;

  // Inputs only.
  bool ragged = false;    // the model gets the elements of all requests as one dimension
  bool optional = false;  // the file has a value for requests that leave it out

  // Outputs only.
  bool is_output = true;     // clients can ask for it
  bool is_state = false;     // it is the next state of a sequence
  bool predictable = false;  // its shape follows from the number of rows
  // It holds the results of all requests end to end: the index in inputs() of the one by whose
  // shapes it is cut, and the dims of a part, without the batch dimension.
  std::optional<size_t> scatter_by;
  Shape scatter_dims;
};

// An input of the session that is computed from the shapes that an input has in a batch.
struct ComputedInput {
  BoundTensor tensor;
  BatchInput rule;
  size_t source = 0;  // index in inputs()
};

class OnnxModel {
 public:
  // Loads the file, completes the configuration where the server wants that, and checks it.
  static Result<std::unique_ptr<OnnxModel>> Create(TRITONBACKEND_Model* model);

  const ModelConfig& config() const { return config_; }
  const std::vector<BoundTensor>& inputs() const { return inputs_; }
  const std::vector<ComputedInput>& computed_inputs() const { return computed_inputs_; }
  const std::vector<BoundTensor>& outputs() const { return outputs_; }
  Ort::Session& session() const { return session_; }
  Ort::RunOptions NewRunOptions() const { return request_.BuildRunOptions(); }

  // Whether outputs came in the shapes that the model declares. Some files declare wrong ones, so
  // predictions are believed only after a Run has confirmed them.
  enum class ShapeTrust : int { kUnknown, kConfirmed, kRefuted };
  ShapeTrust shape_trust() const { return shape_trust_.load(std::memory_order_relaxed); }
  void set_shape_trust(ShapeTrust trust) const {
    shape_trust_.store(trust, std::memory_order_relaxed);
  }

 private:
  OnnxModel(const Environment& environment, ModelConfig config)
      : environment_(environment), config_(std::move(config)) {}

  // <model>/<version>/<default_model_filename>; a folder of that name holds a file of that name.
  // NOT_FOUND when there is neither.
  Result<std::string> FindFile() const;
  Error LoadSession();
  Error AutoComplete(TRITONBACKEND_Model* model);
  Error Bind();
  Error BindInputs();
  Error BindOutputs();
  // Index in inputs_ of an input of the configuration, which CheckConfig found in the file.
  size_t InputIndex(std::string_view name) const;

  const Environment& environment_;
  ModelConfig config_;
  std::string path_;
  SessionRequest request_;
  mutable Ort::Session session_{nullptr};  // Run is thread-safe, though not const
  Signature signature_;
  std::vector<BoundTensor> inputs_;
  std::vector<ComputedInput> computed_inputs_;
  std::vector<BoundTensor> outputs_;
  mutable std::atomic<ShapeTrust> shape_trust_{ShapeTrust::kUnknown};
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_MODEL_H_
