// OnnxModel: one loaded version of an ONNX model: its configuration, its session and the tensors
// that a Run takes and gives. Immutable after Create; thread-safe.
//
// All instances of a model share one session. Run is thread-safe in ONNX Runtime, and a session
// holds the weights, so a session for each instance would multiply the memory by the instances and
// gain nothing on a CPU.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_MODEL_H_
#define NEREID_BACKENDS_ONNXRUNTIME_MODEL_H_

#include <onnxruntime_cxx_api.h>

#include <memory>
#include <string>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/sdk/error.h"
#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

class OnnxModel {
 public:
  // Loads the file, completes the configuration where the server wants that, and checks it.
  static Result<std::unique_ptr<OnnxModel>> Create(TRITONBACKEND_Model* model);

  const ModelConfig& config() const { return config_; }
  const BoundModel& bound() const { return *bound_; }
  Ort::Session& session() const { return session_; }
  Ort::RunOptions NewRunOptions() const { return request_.BuildRunOptions(); }
  const Environment& environment() const { return environment_; }
  // Whether a Run ends early that no request waits for within its time-out.
  bool terminates_late_runs() const { return request_.terminate_late_runs; }

 private:
  OnnxModel(const Environment& environment, ModelConfig config)
      : environment_(environment), config_(std::move(config)) {}

  // <model>/<version>/<default_model_filename>; a folder of that name holds a file of that name.
  // NOT_FOUND when there is neither.
  Result<std::string> FindFile() const;
  Error LoadSession();
  Error AutoComplete(TRITONBACKEND_Model* model);

  const Environment& environment_;
  ModelConfig config_;
  std::string path_;
  SessionRequest request_;
  mutable Ort::Session session_{nullptr};  // Run is thread-safe, though not const
  Signature signature_;
  std::unique_ptr<BoundModel> bound_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_MODEL_H_
