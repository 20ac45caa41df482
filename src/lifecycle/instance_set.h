// InstanceSet: the instances of one LoadedModel: made when it is loaded, added and removed while it
// serves, ended with it. Thread-safe. Owned by its model.
#ifndef NEREID_LIFECYCLE_INSTANCE_SET_H_
#define NEREID_LIFECYCLE_INSTANCE_SET_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/model_handle.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "c_objects/buffer_attributes.h"
#include "execution/warmup.h"
#include "infer/serving_model.h"
#include "lifecycle/load_context.h"
#include "lifecycle/reaper.h"
#include "scheduling/scheduler.h"

namespace nereid {

struct RunningInstance;

class InstanceSet {
 public:
  using Instances = std::vector<std::shared_ptr<RunningInstance>>;

  // Instances that are ready to take the place of others; see Prepare.
  struct Update {
    Instances added;    // not serving yet
    Instances removed;  // still serving
    // Made beforehand, so that Apply cannot fail.
    Instances all;       // of the model, once it is applied
    Reaper::Job retire;  // ends those removed, and then the pass below
    // Of the model's lifetime, from Apply on: the model stays as long as they do.
    std::shared_ptr<Gate::Pass> inside = std::make_shared<Gate::Pass>();
    std::string config_json;
  };

  // INVALID_ARGUMENT if none of the instances takes requests.
  static absl::Status CheckNotAllPassive(const std::string& model,
                                         const std::vector<InstanceSpec>& instances);

  // Of the model that `handle` serves. Both outlive End, and the serving model this.
  InstanceSet(ModelHandle* handle, Scheduler* scheduler);
  ~InstanceSet();

  // Makes the instances that the configuration asks for, which initialise and warm up; then they
  // serve. Blocks as the backend does. REQUIRES: called once.
  absl::Status Start(const LoadContext& context, const std::string& model_dir)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the instances that `wanted` asks for and the model has not, initialised and warmed up,
  // but not yet serving; those that it has and `wanted` does not ask for are marked. `wanted`
  // differs in place only (config/relations.h) from what the model was loaded with. On an error
  // nothing has changed. UNIMPLEMENTED where the model has to be loaded anew. Blocks as the backend
  // does. One at a time.
  absl::StatusOr<std::unique_ptr<Update>> Prepare(const LoadContext& context,
                                                  const ParsedConfig& wanted,
                                                  const std::string& model_dir)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The new instances serve; those that are not wanted any more finish what they have in the
  // background, and `reaper` ends them.
  void Apply(Reaper* reaper, std::unique_ptr<Update> update) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until all have finished, and finalises them. REQUIRES: the scheduler was shut down.
  void End() ABSL_LOCKS_EXCLUDED(mu_);

  // The first error of an instance that is asked whether it is ready. Blocks as the backend does.
  absl::Status CheckReady() ABSL_LOCKS_EXCLUDED(mu_);
  // Adds what the instances reported.
  void AppendMemory(std::vector<TRITONSERVER_BufferAttributes>* all) ABSL_LOCKS_EXCLUDED(mu_);
  // The configuration that the instances are of; empty: the one that the model was loaded with.
  std::string ConfigJson() const ABSL_LOCKS_EXCLUDED(mu_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_) { return instances().size(); }

 private:
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
  // Makes all that Apply takes. `present`: the instances now.
  void PrepareApply(const Instances& present, Update* update);
  // Takes `instance` out of service, waits until it has finished, and finalises it.
  void Retire(RunningInstance* instance);
  Instances instances() const ABSL_LOCKS_EXCLUDED(mu_);
  const CompiledModel& config() const { return model_->config(); }
  Gate& lifetime() { return model_->lifetime(); }

  ModelHandle* const handle_;
  ServingModel* const model_;
  Scheduler* const scheduler_;
  mutable Mutex mu_;
  Instances instances_ ABSL_GUARDED_BY(mu_);
  std::string config_json_ ABSL_GUARDED_BY(mu_);  // as ConfigJson
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_INSTANCE_SET_H_
