// TensorflowModel: one loaded version of a TensorFlow model: its configuration, the process that
// has it loaded, and the tensors that a run takes and gives. Immutable after Create; thread-safe.
//
// All instances share the process and the session in it: the runtime runs a session in any number
// of threads at a time, and it holds the weights.
#ifndef NEREID_BACKENDS_TENSORFLOW_MODEL_H_
#define NEREID_BACKENDS_TENSORFLOW_MODEL_H_

#include <memory>
#include <string>

#include "backends/sdk/error.h"
#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"
#include "backends/tensorflow/session_options.h"
#include "backends/tensorflow/settings.h"
#include "backends/tensorflow/supervisor.h"

namespace nereid_backend {

class TensorflowModel {
 public:
  // Loads the model, completes the configuration where the server wants that, and checks it.
  static Result<std::unique_ptr<TensorflowModel>> Create(TRITONBACKEND_Model* model);

  const BoundModel& bound() const { return *bound_; }
  Supervisor& supervisor() const { return *supervisor_; }

 private:
  TensorflowModel(const BackendSettings& settings, ModelConfig config)
      : settings_(settings), config_(std::move(config)) {}

  // The format by the platform; without one, by the name of the file, or what is there.
  Error FindFiles();
  Error LoadInWorker();
  Result<std::vector<std::string>> ReadInitOps() const;
  Error AutoComplete(TRITONBACKEND_Model* model);

  const BackendSettings& settings_;
  ModelConfig config_;
  SessionOptions options_;
  nereid_tensorflow::ModelFormat format_ = nereid_tensorflow::ModelFormat::kSavedModel;
  std::string path_;
  Signature signature_;
  std::unique_ptr<Supervisor> supervisor_;
  std::unique_ptr<BoundModel> bound_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_MODEL_H_
