// SPDX-License-Identifier: Apache-2.0
// FilModel: one loaded version of a model of trees, and FilInstance, which runs batches on it. The
// instances of a model share its forest.
#ifndef NEREID_BACKENDS_FIL_MODEL_H_
#define NEREID_BACKENDS_FIL_MODEL_H_

#include <filesystem>
#include <memory>
#include <vector>

#include "backends/fil/forest.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/error.h"
#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/graph/executor.h"
#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"

namespace nereid_backend {

// What all models share: the backend's settings. Immutable.
struct FilBackend {
  int64_t default_max_batch_size = 0;

  static Result<std::unique_ptr<FilBackend>> Create(TRITONBACKEND_Backend* backend);
};

// Immutable after Create; thread-safe.
class FilModel {
 public:
  // Loads the file, completes the configuration if the server asks for it, and checks it.
  static Result<std::unique_ptr<FilModel>> Create(TRITONBACKEND_Model* model);

  const BoundModel& bound() const { return *bound_; }
  size_t features() const { return forest_.features(); }
  // Values per row of the output.
  size_t width() const { return two_columns_ ? 2 : (classes_ ? 1 : forest_.outputs()); }
  // Writes width() values for each of `count` rows.
  void Predict(const float* rows, size_t count, float* results) const;

 private:
  FilModel(ModelConfig config, Forest forest)
      : config_(std::move(config)), forest_(std::move(forest)) {}

  Error ReadOutputKind(const OptionValues& given);
  Signature MakeSignature() const;
  Error AutoComplete(TRITONBACKEND_Model* model, const Signature& signature);

  ModelConfig config_;
  const Forest forest_;
  bool classes_ = false;      // the output is the class
  bool two_columns_ = false;  // the scores of both classes, of a model with one score
  float threshold_ = 0.5f;    // of the score of a model with one, for class 1
  std::unique_ptr<BoundModel> bound_;
};

// Owned by the instance's thread.
class FilInstance {
 public:
  static Result<std::unique_ptr<FilInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                     const FilModel& model);

  Error Execute(Batch* batch);

 private:
  explicit FilInstance(const FilModel& model)
      : model_(model), executor_(model.bound(), GraphExecutor::Outputs::kInPlace) {}

  Error Compute();

  const FilModel& model_;
  GraphExecutor executor_;
  std::vector<float> results_;  // where the executor has no place for them
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_MODEL_H_
