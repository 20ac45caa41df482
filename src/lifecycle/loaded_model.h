// LoadedModel: one version of a model with everything that makes it run: backend model, scheduler,
// instances. Thread-safe. Its parts are torn down when it was closed and the last request in
// flight is gone; the object itself (name, statistics) lives as long as someone refers to it.
#ifndef NEREID_LIFECYCLE_LOADED_MODEL_H_
#define NEREID_LIFECYCLE_LOADED_MODEL_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_registry.h"
#include "backend_host/instance_handle.h"
#include "backend_host/model_handle.h"
#include "execution/host_policy.h"
#include "execution/instance_runner.h"
#include "execution/rate_limited_source.h"
#include "execution/warmup.h"
#include "filesystem/file_system.h"
#include "infer/serving_model.h"
#include "scheduling/cached/cached_scheduler.h"
#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/ordered/ordered_scheduler.h"
#include "scheduling/sequence/sequence_scheduler.h"

namespace nereid {

// What loading needs; outlives every model loaded with it.
struct LoadContext {
  const FileSystem* file_system = nullptr;
  BackendRegistry* backends = nullptr;
  Clock* clock = nullptr;
  bool auto_complete_config = true;
  ResponseCache* response_cache = nullptr;            // null: none
  Executor* cache_executor = nullptr;                 // null: the cache answers at once
  RateLimiter* rate_limiter = nullptr;                // null: instances need no resources
  const HostPolicySettings* host_policies = nullptr;  // null: none
  Duration inline_limit{0};                           // of executions by I/O threads; 0: none
  Timer* timer = nullptr;        // for time-outs in queues; null: noticed when an instance is idle
  size_t hold_until_queued = 0;  // see DynamicSchedulerOptions
  size_t hold_until_backlogged = 0;  // see SequenceSchedulerOptions
  void* server = nullptr;            // TRITONSERVER_Server*, for the backends
};

class LoadedModel final : public ServingModel {
 public:
  // Loads version `version` of the model in `model_dir`: backend, model, scheduler, instances. The
  // instances serve from then on. Blocks as long as the backend does.
  static absl::StatusOr<std::shared_ptr<LoadedModel>> Load(const LoadContext& context,
                                                           const ParsedConfig& config,
                                                           const std::string& model_dir,
                                                           int64_t version);
  ~LoadedModel() override;

  absl::Status Enqueue(RequestPtr* request) override { return front_->Enqueue(request); }
  bool AdmissionOpen() const override { return admission_open_.load(std::memory_order_acquire); }
  absl::Status CheckReady() override;
  void OnCancel(InferRequest* request) override { front_->OnCancel(request); }
  bool HasSequence(const CorrelationId& id) const override {
    return sequences_ != nullptr && sequences_->Has(id);
  }
  uint64_t inline_executions() const override {
    return scheduler_ == nullptr ? 0 : scheduler_->inline_executions();
  }

  std::optional<AdaptiveBatching> adaptive_batching() const override;

  // Whether a sequence lives here.
  bool HasSequences() const { return sequences_ != nullptr && sequences_->live_sequences() > 0; }
  // What keeps it from being torn down: its requests, or its sequences.
  int64_t InFlight();
  // Refuses new requests; those in flight go on, and so do the sequences that live.
  void CloseAdmission();
  // CloseAdmission, and tears the model down once nothing is in flight, on a thread of its own;
  // `on_done` runs there afterwards. REQUIRES: called once, on a model held by a shared_ptr.
  void Close(std::function<void()> on_done);

  double load_seconds() const { return load_seconds_; }
  // What backend and instances reported; empty once the model is closed and idle.
  std::vector<TRITONSERVER_BufferAttributes> memory();

 private:
  LoadedModel(std::shared_ptr<const CompiledModel> config, OutputLabels labels, Clock* clock,
              std::unique_ptr<ModelHandle> model);
  // Makes the scheduler and the instances, which initialise and warm up; then they serve.
  absl::Status StartInstances(const LoadContext& context, const std::string& model_dir);
  // The scheduler that the configuration asks for.
  absl::Status MakeScheduler(const LoadContext& context);
  // Where instance `spec` takes its batches, the `active`th that is not passive.
  absl::StatusOr<BatchSource*> MakeSource(const LoadContext& context, const InstanceSpec& spec,
                                          uint32_t active);
  // context.inline_limit, or zero if no I/O thread may execute this model. INVALID_ARGUMENT for a
  // bad parameter.
  absl::StatusOr<Duration> InlineLimit(const LoadContext& context) const;
  // Puts the response cache before the scheduler, if the configuration asks for it.
  void UseCache(const LoadContext& context, const std::string& model_dir);
  // Puts the one who orders responses before all other schedulers, if the configuration asks for
  // it.
  void PreserveOrdering();
  void TearDown();

  std::unique_ptr<ModelHandle> model_;  // null once torn down
  // One of these two; the other is null.
  std::unique_ptr<DynamicScheduler> scheduler_;
  std::unique_ptr<SequenceScheduler> sequences_;
  std::unique_ptr<CachedScheduler> cached_;    // null if the model does not use the response cache
  std::unique_ptr<OrderedScheduler> ordered_;  // null unless responses leave in order
  Scheduler* front_ = nullptr;                 // the first that sees a request
  std::vector<std::unique_ptr<RateLimitedSource>> limited_sources_;  // empty without rate limiter
  std::vector<InstanceHandle*> instances_;                           // owned by the runners
  std::vector<std::unique_ptr<InstanceRunner>> runners_;
  std::atomic<bool> admission_open_{true};
  double load_seconds_ = 0;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOADED_MODEL_H_
