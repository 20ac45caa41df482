// SPDX-License-Identifier: Apache-2.0
// TensorflowModel: one loaded version of a TensorFlow model: its configuration, the process that
// has loaded it, and the tensors that a run takes and returns. Immutable after Create; thread-safe.
//
// All instances share the process and its session, because the runtime runs a session in any number
// of threads at a time, and the session holds the weights.
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
  // Loads the model, completes the configuration if the server asks for it, and checks it.
  static Result<std::unique_ptr<TensorflowModel>> Create(TRITONBACKEND_Model* model);

  const BoundModel& bound() const { return *bound_; }
  Supervisor& supervisor() const { return *supervisor_; }

 private:
  TensorflowModel(const BackendSettings& settings, ModelConfig config)
      : settings_(settings), config_(std::move(config)) {}

  // The format, determined from the platform or, without one, from the name of the file or from the
  // files present.
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
