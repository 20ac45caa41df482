// The instances of a LoadedModel: made when it is loaded, added and removed while it serves.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/insist.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "config/relations.h"
#include "lifecycle/instance_changes.h"
#include "lifecycle/loaded_model.h"
#include "lifecycle/running_instance.h"

namespace nereid {
namespace {

const HostPolicySettings& Policies(const LoadContext& context) {
  static const auto* const kNone = new HostPolicySettings;
  return context.host_policies == nullptr ? *kNone : *context.host_policies;
}

}  // namespace

absl::Status LoadedModel::StartInstance(const LoadContext& context, int place, uint32_t active,
                                        const std::shared_ptr<const Warmup>& warmup,
                                        RunningInstance* instance) {
  const InstanceSpec& spec = instance->spec;
  ASSIGN_OR_RETURN(HostPolicy policy, HostPolicy::Make(Policies(context), spec.host_policy_name));
  ASSIGN_OR_RETURN(BatchSource* const source, MakeSource(context, instance, active));
  instance->place = place;
  auto handle = std::make_unique<InstanceHandle>(model_.get(), spec, place, policy.ToJson());
  instance->handle = handle.get();
  InstanceSetup setup;
  if (!policy.empty()) {
    setup.before = [policy = std::move(policy)] { return policy.ApplyToThread(); };
  }
  if (!warmup->empty() && !spec.passive) {
    setup.after = [this, warmup, name = spec.name](Instance* initialized) {
      return warmup->Run(shared_from_this(), name, initialized);
    };
  }
  instance->runner =
      std::make_unique<InstanceRunner>(spec.name, std::move(handle), source, std::move(setup));
  return absl::OkStatus();
}

absl::StatusOr<LoadedModel::Instances> LoadedModel::MakeInstances(
    const LoadContext& context, const std::vector<InstanceSpec>& specs,
    const std::vector<int>& places, const std::string& model_dir) {
  ASSIGN_OR_RETURN(Warmup samples, Warmup::Make(config(), *context.file_system, model_dir));
  const auto warmup = std::make_shared<const Warmup>(std::move(samples));
  const bool parallel = model_->backend()->attributes().parallel_instance_loading;
  Instances made;
  uint32_t active = 0;
  absl::Status first_error;
  for (size_t i = 0; i < specs.size() && first_error.ok(); ++i) {
    auto instance = std::make_shared<RunningInstance>();
    instance->spec = specs[i];
    first_error = StartInstance(context, places[i], active, warmup, instance.get());
    if (!first_error.ok()) break;
    if (!specs[i].passive) ++active;
    made.push_back(std::move(instance));
    if (!parallel) first_error = made.back()->runner->WaitInitialized();
  }
  // All are waited for, also after a failure: none may still be initialising when it is torn down.
  for (const auto& instance : made) first_error.Update(instance->runner->WaitInitialized());
  RETURN_IF_ERROR(first_error);
  return made;
}

absl::StatusOr<std::unique_ptr<LoadedModel::InstanceUpdate>> LoadedModel::PrepareInstances(
    const LoadContext& context, const ParsedConfig& wanted, const std::string& model_dir) {
  if (scheduler_ == nullptr) return absl::UnimplementedError("its scheduler needs a reload");
  ParsedConfig config = ChangedInPlace(model_->config(), wanted);
  RETURN_IF_ERROR(config.NormalizeInstanceGroups(model_->backend()->attributes().preferred_groups));
  ASSIGN_OR_RETURN(const CompiledModel compiled, config.Compile(this->config().version));
  RETURN_IF_ERROR(CheckNotAllPassive(compiled.name, compiled.instances));

  const Instances present = instances();
  std::vector<InstanceSpec> present_specs;
  for (const auto& instance : present) present_specs.push_back(instance->spec);
  const InstanceChanges changes = CompareInstances(present_specs, compiled.instances);

  auto update = std::make_unique<InstanceUpdate>();
  update->config_json = compiled.json;
  std::set<int> taken;
  for (const auto& instance : present) taken.insert(instance->place);
  for (const size_t index : changes.removed) {
    update->removed.push_back(present[index]);
    taken.erase(present[index]->place);
  }
  // Statistics are kept by place, and there are as many as the model had instances at first.
  const int first_count = static_cast<int>(this->config().instances.size());
  std::vector<InstanceSpec> specs;
  std::vector<int> places;
  for (const size_t index : changes.added) {
    // I/O threads that execute must not get hold of an instance that runs where a policy says.
    if (Policies(context).count(compiled.instances[index].host_policy_name) > 0) {
      return absl::UnimplementedError("an instance with a host policy needs a reload");
    }
    int place = 0;
    while (taken.count(place) > 0) ++place;
    taken.insert(place);
    specs.push_back(compiled.instances[index]);
    places.push_back(place % first_count);
  }
  ASSIGN_OR_RETURN(update->added, MakeInstances(context, specs, places, model_dir));
  PrepareApply(present, update.get());
  return update;
}

void LoadedModel::PrepareApply(const Instances& present, InstanceUpdate* update) {
  const Instances& removed = update->removed;
  for (const auto& instance : present) {
    if (std::find(removed.begin(), removed.end(), instance) == removed.end()) {
      update->all.push_back(instance);
    }
  }
  update->all.insert(update->all.end(), update->added.begin(), update->added.end());
  if (removed.empty()) return;
  auto self = std::static_pointer_cast<LoadedModel>(shared_from_this());
  update->retire.push_back([self, removed = update->removed, inside = update->inside]() mutable {
    for (const auto& instance : removed) self->Retire(instance.get());
    removed.clear();
    *inside = Gate::Pass();
  });
}

void LoadedModel::Apply(Reaper* reaper, std::unique_ptr<InstanceUpdate> update) noexcept {
  for (const auto& instance : update->added) instance->Serve();
  {
    MutexLock lock(&mu_);
    instances_.swap(update->all);
    config_json_.swap(update->config_json);
  }
  LOG_INFO << "model '" << config().name << "' version " << config().version << ": "
           << update->added.size() << " instances added, " << update->removed.size()
           << " removed in place";
  // They finish what they have in the background. The model stays as long as they do: its lifetime
  // is open, because it serves.
  if (update->removed.empty()) return;
  *update->inside = lifetime().Enter();
  if (!*update->inside) return;
  // The job is the one that ends them, and the last to refer to them.
  update->removed.clear();
  update->all.clear();
  reaper->Run(std::move(update->retire));
}

void LoadedModel::Retire(RunningInstance* instance) {
  struct Unused {
    Mutex mu;
    CondVar changed;
    bool is_so ABSL_GUARDED_BY(mu) = false;
  } unused;
  // One pointer, for which a function takes no memory.
  instance->in_use.Close([&unused] {
    MutexLock lock(&unused.mu);
    unused.is_so = true;
    unused.changed.NotifyAll();
  });
  {
    MutexLock lock(&unused.mu);
    while (!unused.is_so) unused.changed.Wait(&unused.mu);
  }
  if (instance->limited != nullptr) {
    instance->Close();
    scheduler_->Nudge();
  } else if (!instance->spec.passive) {
    Insist(clock(), [&] { scheduler_->Retire(instance->handle); });
  }
  instance->runner->Join();
}

LoadedModel::Instances LoadedModel::instances() const {
  MutexLock lock(&mu_);
  return instances_;
}

size_t LoadedModel::instance_count() const { return instances().size(); }

std::string LoadedModel::ConfigJson() const {
  MutexLock lock(&mu_);
  return config_json_.empty() ? config().json : config_json_;
}

}  // namespace nereid
