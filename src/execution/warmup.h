// SPDX-License-Identifier: Apache-2.0
// Warmup: the samples that a model's instances execute before the model becomes ready
// (`model_warmup`). Made once per load by the loading thread. Immutable; used by the threads of all
// instances.
#ifndef NEREID_EXECUTION_WARMUP_H_
#define NEREID_EXECUTION_WARMUP_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "execution/instance.h"
#include "filesystem/file_system.h"
#include "infer/serving_model.h"

namespace nereid {

class Warmup {
 public:
  // Makes the tensors of all samples. Files are read from `model_dir`/warmup. INVALID_ARGUMENT for
  // samples that are incomplete or do not fit the model; errors of the file system.
  static absl::StatusOr<Warmup> Make(const CompiledModel& model, const FileSystem& fs,
                                     const std::string& model_dir);

  bool empty() const { return samples_.empty(); }

  // Executes every sample on `instance`, on the calling thread. Waits for all answers and drops
  // them. INVALID_ARGUMENT with all errors of the first execution that failed. `name` is for the
  // log.
  absl::Status Run(const std::shared_ptr<ServingModel>& model, const std::string& name,
                   Instance* instance) const;

 private:
  class Execution;
  struct Input {
    std::string name;
    DataType data_type;
    Shape shape;        // with the batch dimension, where the model has one
    bool of_the_model;  // false: a control tensor that a scheduler would add
    std::string bytes;
  };
  struct Sample {
    std::string name;
    uint32_t batch_size;
    uint32_t count;
    std::vector<Input> inputs;
  };

  static absl::StatusOr<Sample> MakeSample(const CompiledModel& model, const WarmupSpec& spec,
                                           const FileSystem& fs, const std::string& model_dir);

  std::vector<Sample> samples_;
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_WARMUP_H_
