// SPDX-License-Identifier: Apache-2.0
// OpenVinoInstance: runs batches of one model instance: one after the other on its own infer
// request, or several at a time on the model's pool. Owned by the instance's thread.
#ifndef NEREID_BACKENDS_OPENVINO_INSTANCE_H_
#define NEREID_BACKENDS_OPENVINO_INSTANCE_H_

#include <memory>
#include <optional>

#include "backends/openvino/model.h"
#include "backends/openvino/run.h"
#include "backends/openvino/sequence_states.h"
#include "backends/sdk/batch.h"

namespace nereid_backend {

class OpenVinoInstance {
 public:
  static Result<std::unique_ptr<OpenVinoInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                          const OpenVinoModel& model);
  // Waits for batches in progress.
  ~OpenVinoInstance();
  OpenVinoInstance(const OpenVinoInstance&) = delete;
  OpenVinoInstance& operator=(const OpenVinoInstance&) = delete;

  // ModelInstanceExecute: answers the requests, or starts them; see RunPool::Start.
  TRITONSERVER_Error* Execute(TRITONBACKEND_Request** requests, uint32_t count) noexcept;

 private:
  OpenVinoInstance(TRITONBACKEND_ModelInstance* handle, const OpenVinoModel& model);

  Error ExecuteInTurn(Batch* batch);
  // Runs what the executor has ready, and repeats the run if a result does not fit its buffer.
  Error Compute();
  // Waits for its turn and runs the infer request.
  Error Infer();
  Error ComputeOnce(bool* fits);

  TRITONBACKEND_ModelInstance* const handle_;
  const OpenVinoModel& model_;
  std::optional<Run> run_;                // without a pool
  std::optional<SequenceStates> states_;  // only for a network that has states
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_INSTANCE_H_
