// InstanceHandle: one model instance as its backend knows it; what a TRITONBACKEND_ModelInstance*
// points to. Initialised and finalised by its own thread, executed by one thread
// at a time; reports are thread-safe.
#ifndef NEREID_BACKEND_HOST_INSTANCE_HANDLE_H_
#define NEREID_BACKEND_HOST_INSTANCE_HANDLE_H_

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/model_handle.h"
#include "base/mutex.h"
#include "execution/instance.h"
#include "infer/infer_request.h"
#include "infer/lent_batch.h"

namespace nereid {

class InstanceHandle final : public Instance {
 public:
  // `model` outlives this. `index`: position among the model's instances.
  // `host_policy`: the settings of the instance's policy, as JSON.
  InstanceHandle(ModelHandle* model, InstanceSpec spec, int index, std::string host_policy);

  absl::Status Initialize() override;
  Duration Execute(Batch batch) override;
  // Waits until the backend has given all requests back.
  void Finalize() override;

  // TRITONBACKEND_ModelInstanceReady; OK where the backend has none. Any thread.
  absl::Status CheckReady();

  ModelHandle* model() const { return model_; }
  const InstanceSpec& spec() const { return spec_; }
  TRITONSERVER_Message* host_policy() { return &host_policy_; }
  // Shard of the model's statistics that this instance records into.
  int statistics_shard() const { return index_ + 1; }

  void ReportMemory(std::vector<TRITONSERVER_BufferAttributes> usage) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<TRITONSERVER_BufferAttributes> memory() const ABSL_LOCKS_EXCLUDED(mu_);

  void* state = nullptr;  // the backend's own

 private:
  // Lends the batch: ownership of each request goes to the backend.
  std::shared_ptr<LentBatch> Lend(Batch* batch, std::vector<TRITONBACKEND_Request*>* pointers);
  // The backend refused the batch: answers and releases what it has not released itself.
  void TakeBack(LentBatch* lent, const std::vector<TRITONBACKEND_Request*>& pointers,
                const absl::Status& error);

  ModelHandle* const model_;
  const InstanceSpec spec_;
  const int index_;
  TRITONSERVER_Message host_policy_;
  std::vector<TRITONBACKEND_Request*> pointers_;  // reused from batch to batch
  // Held by every batch that is out; the last one to let go of it keeps the promise.
  std::future<void> all_back_;
  std::shared_ptr<const void> lender_;
  mutable Mutex mu_;
  std::vector<TRITONSERVER_BufferAttributes> memory_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_INSTANCE_HANDLE_H_
