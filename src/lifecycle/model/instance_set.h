// SPDX-License-Identifier: Apache-2.0
// InstanceSet: the instances of one LoadedModel. They are made when the model is loaded, may be
// added and removed while it serves, and end with it. Thread-safe. Owned by its model.
#ifndef NEREID_LIFECYCLE_MODEL_INSTANCE_SET_H_
#define NEREID_LIFECYCLE_MODEL_INSTANCE_SET_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_model.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "c_objects/buffer_attributes.h"
#include "config/compiled_model.h"
#include "execution/device_thread.h"
#include "execution/host_policy.h"
#include "execution/warmup.h"
#include "infer/serving_model.h"
#include "lifecycle/model/load_context.h"
#include "lifecycle/model/reaper.h"
#include "scheduling/scheduler.h"

namespace nereid {

// Which instances are kept when the instance groups change.
struct InstanceChanges {
  std::vector<size_t> removed;  // indices into the present instances
  std::vector<size_t> added;    // indices into the wanted instances

  friend bool operator==(const InstanceChanges&, const InstanceChanges&) = default;
};

// A present instance is kept if a wanted one differs from it in its name only. If several could be
// kept, the first ones are.
InstanceChanges CompareInstances(const std::vector<InstanceSpec>& present,
                                 const std::vector<InstanceSpec>& wanted);

struct RunningInstance;

class InstanceSet {
 public:
  using Instances = std::vector<std::shared_ptr<RunningInstance>>;

  // Instances that are ready to take the place of others; see Prepare.
  struct Update {
    Instances added;    // not serving yet
    Instances removed;  // still serving
    // Made beforehand, so that Apply cannot fail.
    Instances all;       // the model's instances after Apply
    Reaper::Job retire;  // ends the removed instances, and then what is below
    struct Ending {
      std::function<void()> then;    // called when the removed instances have settled
      std::atomic<size_t> left = 0;  // instances that have not
      // A pass of the model's lifetime, from Apply on: keeps the model while the instances end.
      Gate::Pass inside;
    };
    std::shared_ptr<Ending> ending = std::make_shared<Ending>();
    std::vector<std::function<void()>> settled;  // for each removed instance
    std::string config_json;
  };

  // INVALID_ARGUMENT if none of the instances takes requests.
  static absl::Status CheckNotAllPassive(const std::string& model,
                                         const std::vector<InstanceSpec>& instances);

  // The instances of the model that `model` serves. `model` and `scheduler` outlive End; the
  // serving model outlives this object.
  InstanceSet(BackendModel* model, Scheduler* scheduler);
  ~InstanceSet();

  // Makes the instances that the configuration asks for, initialises them, warms them up and lets
  // them serve. Blocks as the backend does. REQUIRES: called once.
  absl::Status Start(const LoadContext& context, const std::string& model_dir)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the instances that `wanted` asks for and that the model lacks: initialised and warmed up,
  // but not yet serving. Marks the instances that `wanted` does not ask for any more. `wanted`
  // differs in place only (config/relations.h) from what the model was loaded with. On an error
  // nothing has changed. UNIMPLEMENTED where the model has to be loaded anew. Blocks as the backend
  // does. One call at a time.
  absl::StatusOr<std::unique_ptr<Update>> Prepare(const LoadContext& context,
                                                  const ParsedConfig& wanted,
                                                  const std::string& model_dir)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Lets the new instances serve. The instances that are not wanted any more finish their work in
  // the background, and `reaper` ends them. Calls `then` when they have settled (see
  // BackendInstance); at once if there are none.
  void Apply(Reaper* reaper, std::unique_ptr<Update> update, std::function<void()> then) noexcept
      ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until all instances have finished, and finalises them. REQUIRES: the scheduler was shut
  // down.
  void End() ABSL_LOCKS_EXCLUDED(mu_);

  // Asks each instance whether it is ready, except for those whose work others do. Returns the
  // first error. Blocks as the backend does.
  absl::Status CheckReady() ABSL_LOCKS_EXCLUDED(mu_);
  // Appends the memory that the instances reported.
  void AppendMemory(std::vector<TRITONSERVER_BufferAttributes>* all) ABSL_LOCKS_EXCLUDED(mu_);
  struct Load {
    size_t instances = 0;     // that take requests
    uint64_t running_ns = 0;  // how long the executions under way have taken, together
  };
  // `now_ns`: of the steady clock.
  Load load(uint64_t now_ns) const ABSL_LOCKS_EXCLUDED(mu_);
  // The configuration that the instances follow; empty: the one that the model was loaded with.
  std::string ConfigJson() const ABSL_LOCKS_EXCLUDED(mu_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_) { return instances().size(); }

 private:
  // Makes and initialises the instances of `specs`. `places`: their numbers among the model's
  // instances.
  absl::StatusOr<Instances> MakeInstances(const LoadContext& context,
                                          const std::vector<InstanceSpec>& specs,
                                          const std::vector<int>& places,
                                          const std::string& model_dir);
  // `active`: how many of the instances made before are not passive.
  absl::Status StartInstance(const LoadContext& context, int place, uint32_t active,
                             const std::shared_ptr<const Warmup>& warmup,
                             RunningInstance* instance);
  // The thread for an instance whose backend has one for each device; null: it has none. One call
  // at a time.
  absl::StatusOr<std::shared_ptr<DeviceThread>> DeviceThreadFor(const InstanceSpec& spec,
                                                                const HostPolicy& policy);
  // The source of batches of `instance`, which is the `active`th instance that is not passive.
  absl::StatusOr<BatchSource*> MakeSource(const LoadContext& context, RunningInstance* instance,
                                          uint32_t active);
  // Makes everything that Apply needs. `present`: the current instances.
  void PrepareApply(const Instances& present, Update* update);
  // Takes `instance` out of service; its thread finishes what it has begun, and finalises it.
  void StopInstance(RunningInstance* instance);
  Instances instances() const ABSL_LOCKS_EXCLUDED(mu_);
  const CompiledModel& config() const { return model_->config(); }
  Gate& lifetime() { return model_->lifetime(); }

  BackendModel* const backend_model_;
  ServingModel* const model_;
  Scheduler* const scheduler_;
  // By GPU; used by the thread that makes instances, one at a time.
  std::map<int64_t, std::weak_ptr<DeviceThread>> device_threads_;
  mutable Mutex mu_;
  Instances instances_ ABSL_GUARDED_BY(mu_);
  std::string config_json_ ABSL_GUARDED_BY(mu_);  // as ConfigJson
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_INSTANCE_SET_H_
