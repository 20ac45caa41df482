// SPDX-License-Identifier: Apache-2.0
// OnnxModel: one loaded version of an ONNX model: its configuration, its session and the tensors
// that a Run takes and returns. Immutable after Create; thread-safe.
//
// All instances of a model share one session. Run is thread-safe in ONNX Runtime, and a session
// holds the weights, so a session per instance would multiply the memory by the number of instances
// and gain nothing on a CPU.
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
  // Loads the file, completes the configuration if the server asks for it, and checks it.
  static Result<std::unique_ptr<OnnxModel>> Create(TRITONBACKEND_Model* model);

  const ModelConfig& config() const { return config_; }
  const BoundModel& bound() const { return *bound_; }
  Ort::Session& session() const { return session_; }
  Ort::RunOptions NewRunOptions() const { return request_.BuildRunOptions(); }
  const Environment& environment() const { return environment_; }
  // Whether a Run ends early once every request that waits for it has passed its time-out.
  bool terminates_late_runs() const { return request_.terminate_late_runs; }

 private:
  OnnxModel(const Environment& environment, ModelConfig config)
      : environment_(environment), config_(std::move(config)) {}

  // <model>/<version>/<default_model_filename>; if that is a folder, the model.onnx in it.
  // UNAVAILABLE if there is neither.
  Result<std::string> FindFile() const;
  // Whether only the number of rows varies, as far as configuration and file say so. Asked before
  // the session is made, because a session takes its memory options once, and makes large models
  // slowly.
  bool DeclaresFixedShapes() const;
  Error LoadSession();
  // The session, of the part of the file that the outputs in the configuration need, if that is
  // less than the whole. May throw Ort::Exception.
  void MakeSession(const Ort::SessionOptions& options);
  // What the session does not say of outputs that it was made without: whether a model batches
  // depends on all that are in the file.
  void AddOutputsLeftOut();
  // Makes the session anew if its shapes vary more than the file declares; see SessionRequest.
  Error GiveUpFixedShapes();
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
