// LoadedModel: one version of a model with everything that makes it run: backend model, scheduler,
// instances. Thread-safe. Its parts are torn down when it was closed and the last request in
// flight is gone; the object itself (name, statistics) lives as long as someone refers to it.
#ifndef NEREID_LIFECYCLE_LOADED_MODEL_H_
#define NEREID_LIFECYCLE_LOADED_MODEL_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_registry.h"
#include "backend_host/instance_handle.h"
#include "backend_host/model_handle.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "execution/host_policy.h"
#include "execution/instance_runner.h"
#include "execution/rate_limited_source.h"
#include "execution/warmup.h"
#include "filesystem/file_system.h"
#include "lifecycle/managed_model.h"
#include "lifecycle/readiness_checker.h"
#include "memory/output_allocator.h"
#include "scheduling/cached/cached_scheduler.h"
#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/ensemble/model_resolver.h"
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
  ModelResolver* resolver = nullptr;  // for ensembles; null: there are none
  // Of the tensors between the steps of ensembles; null: one without a limit.
  const HeapOutputAllocator* step_allocator = nullptr;
  size_t hold_until_backlogged = 0;       // see SequenceSchedulerOptions
  void* server = nullptr;                 // TRITONSERVER_Server*, for the backends
  ReadinessChecker* readiness = nullptr;  // null: nobody asks, models are taken to be ready
};

class LoadedModel final : public ManagedModel {
 public:
  // Instances that are ready to take the place of others; see PrepareInstances.
  class InstanceUpdate;

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
  absl::Status KnownReady() override;
  void OnCancel(InferRequest* request) override { front_->OnCancel(request); }
  bool HasSequence(const CorrelationId& id) const override {
    return sequences_ != nullptr && sequences_->Has(id);
  }
  uint64_t inline_executions() const override {
    return scheduler_ == nullptr ? 0 : scheduler_->inline_executions();
  }

  std::optional<AdaptiveBatching> adaptive_batching() const override;

  int64_t InFlight() override;
  // The sequences that live go on, too.
  void CloseAdmission() override;
  double load_seconds() const override { return load_seconds_; }
  std::vector<TRITONSERVER_BufferAttributes> memory() override;

  // Makes the instances that `wanted` asks for and this model has not, initialised and warmed up,
  // but not yet serving; those that it has and `wanted` does not ask for are marked. `wanted`
  // differs in place only (config/relations.h) from what this was loaded with. On an error nothing
  // has changed. UNIMPLEMENTED where the model has to be loaded anew. Blocks as the backend does.
  // One at a time.
  absl::StatusOr<std::unique_ptr<InstanceUpdate>> PrepareInstances(const LoadContext& context,
                                                                   const ParsedConfig& wanted,
                                                                   const std::string& model_dir);
  // The new instances serve; those that are not wanted any more finish what they have in the
  // background, and `reaper` ends them.
  void Apply(Reaper* reaper, std::unique_ptr<InstanceUpdate> update) noexcept
      ABSL_LOCKS_EXCLUDED(mu_);
  std::string ConfigJson() const override ABSL_LOCKS_EXCLUDED(mu_);
  size_t instance_count() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  LoadedModel(std::shared_ptr<const CompiledModel> config, OutputLabels labels, Clock* clock,
              std::unique_ptr<ModelHandle> model);
  struct RunningInstance;
  using Instances = std::vector<std::shared_ptr<RunningInstance>>;

  // Makes the scheduler and the instances, which initialise and warm up; then they serve.
  absl::Status StartInstances(const LoadContext& context, const std::string& model_dir);
  // The scheduler that the configuration asks for.
  absl::Status MakeScheduler(const LoadContext& context);
  // The instances of `specs`, initialised; `places`: their numbers among the model's.
  absl::StatusOr<Instances> MakeInstances(const LoadContext& context,
                                          const std::vector<InstanceSpec>& specs,
                                          const std::vector<int>& places,
                                          const std::string& model_dir);
  // `active`: how many of those made before are not passive.
  absl::Status StartInstance(const LoadContext& context, int place, uint32_t active,
                             const std::shared_ptr<const Warmup>& warmup,
                             RunningInstance* instance);
  // Where `instance` takes its batches, the `active`th that is not passive.
  absl::StatusOr<BatchSource*> MakeSource(const LoadContext& context, RunningInstance* instance,
                                          uint32_t active);
  Instances instances() const ABSL_LOCKS_EXCLUDED(mu_);
  // Makes all that Apply takes. `present`: the instances now.
  void PrepareApply(const Instances& present, InstanceUpdate* update);
  // Takes `instance` out of service, waits until it has finished, and finalises it.
  void Retire(RunningInstance* instance);
  // context.inline_limit, or zero if no I/O thread may execute this model. INVALID_ARGUMENT for a
  // bad parameter.
  absl::StatusOr<Duration> InlineLimit(const LoadContext& context) const;
  // Has the backend asked from now on whether the model is ready, if it offers that.
  void CheckFromNowOn(ReadinessChecker* checker);
  // Puts the response cache before the scheduler, if the configuration asks for it.
  void UseCache(const LoadContext& context);
  // Puts the one who orders responses before all other schedulers, if the configuration asks for
  // it.
  void PreserveOrdering();
  void TearDown() override;

  std::unique_ptr<ModelHandle> model_;  // null once torn down
  // One of these two; the other is null.
  std::unique_ptr<DynamicScheduler> scheduler_;
  std::unique_ptr<SequenceScheduler> sequences_;
  std::unique_ptr<CachedScheduler> cached_;    // null if the model does not use the response cache
  std::unique_ptr<OrderedScheduler> ordered_;  // null unless responses leave in order
  Scheduler* front_ = nullptr;                 // the first that sees a request
  std::atomic<bool> admission_open_{true};
  std::shared_ptr<Readiness> readiness_;  // null: it is ready as long as it serves
  double load_seconds_ = 0;
  mutable Mutex mu_;
  Instances instances_ ABSL_GUARDED_BY(mu_);
  std::string config_json_ ABSL_GUARDED_BY(mu_);  // empty: that of config()
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOADED_MODEL_H_
