// OpenVinoInstance: runs batches of one model instance: one after the other on an infer request of
// its own, or several at a time on the model's pool. Owned by the instance's thread.
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
  // Waits for what is under way.
  ~OpenVinoInstance();
  OpenVinoInstance(const OpenVinoInstance&) = delete;
  OpenVinoInstance& operator=(const OpenVinoInstance&) = delete;

  // ModelInstanceExecute: answers the requests, or sets them on their way; see RunPool::Start.
  TRITONSERVER_Error* Execute(TRITONBACKEND_Request** requests, uint32_t count) noexcept;

 private:
  OpenVinoInstance(TRITONBACKEND_ModelInstance* handle, const OpenVinoModel& model);

  Error ExecuteInTurn(Batch* batch);
  // Runs what the executor has ready, once more where a result does not fit its place.
  Error Compute();
  Error ComputeOnce(bool* fits);

  TRITONBACKEND_ModelInstance* const handle_;
  const OpenVinoModel& model_;
  std::optional<Run> run_;                // without a pool
  std::optional<SequenceStates> states_;  // of a network that has states
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_INSTANCE_H_
