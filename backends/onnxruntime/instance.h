// SPDX-License-Identifier: Apache-2.0
// OnnxInstance: runs batches of one model instance on the session that it shares with the other
// instances. Owned by the instance's thread; the buffers live from batch to batch.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_INSTANCE_H_
#define NEREID_BACKENDS_ONNXRUNTIME_INSTANCE_H_

#include <onnxruntime_cxx_api.h>

#include <memory>
#include <vector>

#include "backends/onnxruntime/model.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/graph/executor.h"
#include "backends/sdk/run_watch.h"

namespace nereid_backend {

class OnnxInstance {
 public:
  static Result<std::unique_ptr<OnnxInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                      const OnnxModel& model);

  // Answers the requests of `batch`; see GraphExecutor.
  Error Execute(Batch* batch);

 private:
  explicit OnnxInstance(const OnnxModel& model);

  // Runs what the executor has ready, and repeats the run if a result does not fit its buffer.
  Error Compute();
  void MakeInputs();
  void MakeOutputs();
  // Runs the session on input_values_ and output_values_.
  Error Run();
  // As above, but a Run whose result nobody waits for ends early.
  Error RunWatched();
  // Reports the results of the run to the executor.
  void TakeOutputs();

  const OnnxModel& model_;
  const Ort::MemoryInfo memory_;
  Ort::RunOptions run_options_;
  RunWatch::Watched watched_;  // terminates runs that use run_options_
  GraphExecutor executor_;
  // Reused by each run.
  std::vector<const char*> input_names_;
  std::vector<Ort::Value> input_values_;
  std::vector<const char*> output_names_;
  std::vector<Ort::Value> output_values_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_INSTANCE_H_
