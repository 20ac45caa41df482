// SPDX-License-Identifier: Apache-2.0
// BackendInstance: one model instance as its backend sees it; the object behind a
// TRITONBACKEND_ModelInstance*. Initialised and finalised on its own thread or that of its device,
// executed by one thread at a time; reports are thread-safe.
#ifndef NEREID_BACKEND_HOST_BACKEND_INSTANCE_H_
#define NEREID_BACKEND_HOST_BACKEND_INSTANCE_H_

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_model.h"
#include "backend_host/execution_scope.h"
#include "base/mutex.h"
#include "execution/device_thread.h"
#include "execution/instance.h"
#include "infer/infer_request.h"

namespace nereid {

class BackendInstance final : public Instance {
 public:
  // `model` outlives the instance. `index`: position among the model's instances. `record_shard`:
  // the instance's shard of the flight recorder. `host_policy`: the settings of the instance's
  // policy, as JSON.
  BackendInstance(BackendModel* model, InstanceSpec spec, int index, uint16_t record_shard,
                  std::string host_policy);

  absl::Status Initialize() override;
  Duration Execute(Batch batch) override;
  uint32_t most_separate() const override { return most_separate_.load(std::memory_order_relaxed); }
  bool lendable() const override {
    return device_thread_ == nullptr && lendable_.load(std::memory_order_relaxed) && !yields();
  }
  bool yields() const override {
    return !available_.load(std::memory_order_acquire) && model_->available_instances() > 0;
  }
  // Waits until the backend has released all requests.
  void Finalize() override;
  // `settled` is called once by Finalize: when the instance is finalised, or before that if the
  // backend keeps requests beyond their execution, as for streams, for which nobody should wait.
  // REQUIRES: called before the instance is told to end.
  void set_settled(std::function<void()> settled) { settled_ = std::move(settled); }

  // The backend initialises, executes and finalises the instance on this thread; null: on the
  // instance's own. REQUIRES: called before Initialize.
  void set_device_thread(std::shared_ptr<DeviceThread> thread) {
    device_thread_ = std::move(thread);
  }

  // TRITONBACKEND_ModelInstanceReady; OK if the backend does not export it. Any thread.
  absl::Status CheckReady();

  BackendModel* model() const { return model_; }
  const InstanceSpec& spec() const { return spec_; }
  TRITONSERVER_Message* host_policy() { return &host_policy_; }
  // The shard of the model's statistics into which this instance records.
  int statistics_shard() const { return index_ + 1; }
  // Start of the execution under way, in nanoseconds of the steady clock; 0: there is none. Any
  // thread.
  uint64_t busy_since_ns() const { return busy_since_ns_.load(std::memory_order_acquire); }

  // Whether the execution under way is by a thread that has the instance on loan. That thread only.
  bool on_loan() const { return on_loan_; }

  // See NEREID_ModelInstanceSetMostSeparate. Any thread.
  void set_most_separate(uint32_t count) { most_separate_.store(count, std::memory_order_relaxed); }

  // See NEREID_ModelInstanceSetLendable. Any thread.
  void set_lendable(bool lendable) { lendable_.store(lendable, std::memory_order_relaxed); }

  // See NEREID_ModelInstanceSetAvailable. Any thread, without locks.
  void set_available(bool available) ABSL_LOCKS_EXCLUDED(mu_);

  void ReportMemory(std::vector<TRITONSERVER_BufferAttributes> usage) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<TRITONSERVER_BufferAttributes> memory() const ABSL_LOCKS_EXCLUDED(mu_);

  void* state = nullptr;  // the backend's own

 private:
  // Calls `job` on the thread that calls the backend, and waits.
  void OnBackendsThread(absl::FunctionRef<void()> job);
  Duration ExecuteHere(Batch batch);
  // Hands the batch to the backend, which then owns each request.
  std::shared_ptr<LentBatch> Lend(Batch* batch, std::vector<TRITONBACKEND_Request*>* pointers);
  // The backend refused the batch: answers and releases the requests that the backend has not
  // released itself.
  void TakeBack(LentBatch* lent, const std::vector<TRITONBACKEND_Request*>& pointers,
                const absl::Status& error);

  // Only an instance that takes requests counts among the model's available ones.
  void SetTakesRequests(bool takes) ABSL_LOCKS_EXCLUDED(mu_);
  // Corrects the model's number of available instances. Whether it was wrong.
  bool Recount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The execution that began at `start` has ended.
  void EndBusy(TimePoint start, TimePoint end);

  BackendModel* const model_;
  const InstanceSpec spec_;
  const int index_;
  const uint16_t record_shard_;
  TRITONSERVER_Message host_policy_;
  std::atomic<uint64_t> busy_since_ns_{0};
  std::atomic<uint32_t> most_separate_{1};
  std::atomic<bool> lendable_{true};
  std::atomic<bool> available_{true};
  bool on_loan_ = false;                            // belongs to the thread that executes
  std::vector<TRITONBACKEND_Request*> pointers_;    // reused from batch to batch
  std::vector<ExecutionScope::Released> released_;  // the same
  // Fulfilled when the last batch held by the backend has been released.
  std::future<void> all_back_;
  std::shared_ptr<const void> lender_;
  std::function<void()> settled_;                // null: nobody wants to know
  std::shared_ptr<DeviceThread> device_thread_;  // null: none
  mutable Mutex mu_;
  std::vector<TRITONSERVER_BufferAttributes> memory_ ABSL_GUARDED_BY(mu_);
  bool takes_requests_ ABSL_GUARDED_BY(mu_) = false;
  bool counted_ ABSL_GUARDED_BY(mu_) = false;  // among the model's available instances
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_BACKEND_INSTANCE_H_
