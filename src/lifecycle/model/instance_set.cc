// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/instance_set.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "backend_host/backend_instance.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "config/relations.h"
#include "execution/instance_runner.h"
#include "execution/rate_limited_source.h"

namespace nereid {

// One instance of a model with its thread. Owned by its InstanceSet. Thread-compatible except for
// `in_use`.
struct RunningInstance {
  ~RunningInstance() { Close(); }

  void Serve() {
    if (!spec.passive) runner->Serve();
  }
  // Stops waiting for resources.
  void Close() {
    if (limited != nullptr) limited->Close();
  }

  InstanceSpec spec;
  FlightRecorder::Lease records;               // outlives the executions
  int place = 0;                               // number among the model's instances
  std::unique_ptr<RateLimitedSource> limited;  // null without rate limiter
  BackendInstance* backend = nullptr;          // owned by the runner
  Gate in_use;                                 // others use `backend`; closed before its end
  std::unique_ptr<InstanceRunner> runner;      // joins before the source is destroyed
};

namespace {

bool SameNeeds(const std::vector<ResourceNeed>& a, const std::vector<ResourceNeed>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || a[i].global != b[i].global || a[i].count != b[i].count) {
      return false;
    }
  }
  return true;
}

bool CanServeAs(const InstanceSpec& present, const InstanceSpec& wanted) {
  return present.kind == wanted.kind && present.device_id == wanted.device_id &&
         present.host_policy_name == wanted.host_policy_name && present.passive == wanted.passive &&
         present.rate_priority == wanted.rate_priority &&
         SameNeeds(present.resources, wanted.resources);
}

// Whether the model was loaded with instances on the GPU of `instance`, if that is on one.
bool RunsOn(const CompiledModel& model, const InstanceSpec& instance) {
  if (instance.kind != InstanceKind::kGpu) return true;
  return std::any_of(
      model.instances.begin(), model.instances.end(), [&](const InstanceSpec& other) {
        return other.kind == InstanceKind::kGpu && other.device_id == instance.device_id;
      });
}

const HostPolicySettings& Policies(const LoadContext& context) {
  static const auto* const kNone = new HostPolicySettings;
  return context.host_policies == nullptr ? *kNone : *context.host_policies;
}

}  // namespace

InstanceChanges CompareInstances(const std::vector<InstanceSpec>& present,
                                 const std::vector<InstanceSpec>& wanted) {
  InstanceChanges changes;
  std::vector<bool> stays(present.size(), false);
  for (size_t w = 0; w < wanted.size(); ++w) {
    size_t p = 0;
    while (p < present.size() && (stays[p] || !CanServeAs(present[p], wanted[w]))) ++p;
    if (p == present.size()) {
      changes.added.push_back(w);
    } else {
      stays[p] = true;
    }
  }
  for (size_t p = 0; p < present.size(); ++p) {
    if (!stays[p]) changes.removed.push_back(p);
  }
  return changes;
}

absl::Status InstanceSet::CheckNotAllPassive(const std::string& model,
                                             const std::vector<InstanceSpec>& instances) {
  if (!std::all_of(instances.begin(), instances.end(),
                   [](const InstanceSpec& instance) { return instance.passive; })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("model '", model, "' has no instance that takes requests: all are passive"));
}

InstanceSet::InstanceSet(BackendModel* model, Scheduler* scheduler)
    : backend_model_(model), model_(model->serving_model()), scheduler_(scheduler) {}

InstanceSet::~InstanceSet() = default;

absl::Status InstanceSet::Start(const LoadContext& context, const std::string& model_dir) {
  std::vector<int> places(config().instances.size());
  std::iota(places.begin(), places.end(), 0);
  ASSIGN_OR_RETURN(Instances started,
                   MakeInstances(context, config().instances, places, model_dir));
  for (const auto& instance : started) instance->Serve();
  MutexLock lock(&mu_);
  instances_ = std::move(started);
  return absl::OkStatus();
}

absl::StatusOr<BatchSource*> InstanceSet::MakeSource(const LoadContext& context,
                                                     RunningInstance* instance, uint32_t active) {
  // A passive instance never pulls.
  if (instance->spec.passive) return nullptr;
  InstanceSource* const source = scheduler_->source(active);
  if (context.rate_limiter == nullptr) return source;
  ASSIGN_OR_RETURN(std::unique_ptr<RateLimiter::Seat> seat,
                   context.rate_limiter->Register(instance->spec));
  instance->limited = std::make_unique<RateLimitedSource>(source, std::move(seat), context.clock);
  return instance->limited.get();
}

absl::StatusOr<std::shared_ptr<DeviceThread>> InstanceSet::DeviceThreadFor(
    const InstanceSpec& spec, const HostPolicy& policy) {
  const bool shares =
      backend_model_->backend()->execution_policy == TRITONBACKEND_EXECUTION_DEVICE_BLOCKING;
  if (!shares || spec.kind != InstanceKind::kGpu) return nullptr;
  const auto [place, is_first] = device_threads_.try_emplace(spec.device_id);
  if (config().sequence.enabled) {
    if (is_first && device_threads_.size() == 1) {
      LOG_WARNING << "Overriding execution policy to \"TRITONBACKEND_EXECUTION_BLOCKING\" for "
                     "sequence model \""
                  << config().name << "\"";
    }
    return nullptr;
  }
  if (std::shared_ptr<DeviceThread> running = place->second.lock()) return running;
  absl::Status placed;
  auto made = std::make_shared<DeviceThread>(
      absl::StrCat(config().name, " gpu", spec.device_id),
      policy.empty() ? absl::AnyInvocable<void()>() : [&] { placed = policy.ApplyToThread(); });
  made->Run([] {});  // the thread has been placed
  RETURN_IF_ERROR(placed);
  place->second = made;
  return made;
}

absl::Status InstanceSet::StartInstance(const LoadContext& context, int place, uint32_t active,
                                        const std::shared_ptr<const Warmup>& warmup,
                                        RunningInstance* instance) {
  const InstanceSpec& spec = instance->spec;
  if (spec.kind == InstanceKind::kGpu) {
    RETURN_IF_ERROR(context.devices->CheckLoadLimit(spec.device_id, spec.name));
  }
  ASSIGN_OR_RETURN(HostPolicy policy, HostPolicy::Make(Policies(context), spec.host_policy_name));
  ASSIGN_OR_RETURN(BatchSource* const source, MakeSource(context, instance, active));
  instance->place = place;
  instance->records = model_->recorder().TakeShard(spec.name);
  auto backend = std::make_unique<BackendInstance>(backend_model_, spec, place,
                                                   instance->records.shard(), policy.ToJson());
  instance->backend = backend.get();
  ASSIGN_OR_RETURN(std::shared_ptr<DeviceThread> device, DeviceThreadFor(spec, policy));
  backend->set_device_thread(std::move(device));
  InstanceSetup setup;
  if (!policy.empty()) {
    setup.before = [policy = std::move(policy)] { return policy.ApplyToThread(); };
  }
  if (!warmup->empty() && !spec.passive) {
    setup.after = [model = model_, warmup, name = spec.name](Instance* initialized) {
      return warmup->Run(model->shared_from_this(), name, initialized);
    };
  }
  instance->runner =
      std::make_unique<InstanceRunner>(spec.name, std::move(backend), source, std::move(setup));
  return absl::OkStatus();
}

absl::StatusOr<InstanceSet::Instances> InstanceSet::MakeInstances(
    const LoadContext& context, const std::vector<InstanceSpec>& specs,
    const std::vector<int>& places, const std::string& model_dir) {
  ASSIGN_OR_RETURN(Warmup samples, Warmup::Make(config(), *context.file_system, model_dir));
  const auto warmup = std::make_shared<const Warmup>(std::move(samples));
  const bool parallel = backend_model_->backend()->attributes().parallel_instance_loading;
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
  // Waits for all, also after a failure: no instance may be torn down while it initialises.
  for (const auto& instance : made) first_error.Update(instance->runner->WaitInitialized());
  RETURN_IF_ERROR(first_error);
  return made;
}

absl::StatusOr<std::unique_ptr<InstanceSet::Update>> InstanceSet::Prepare(
    const LoadContext& context, const ParsedConfig& wanted, const std::string& model_dir) {
  if (!scheduler_->instances_may_change()) {
    return absl::UnimplementedError("its scheduler needs a reload");
  }
  ParsedConfig config = ChangedInPlace(backend_model_->config(), wanted);
  RETURN_IF_ERROR(
      config.NormalizeInstanceGroups(PlacementRulesFor(context, *backend_model_->backend())));
  ASSIGN_OR_RETURN(const CompiledModel compiled, config.Compile(model_->config().version));
  RETURN_IF_ERROR(CheckNotAllPassive(compiled.name, compiled.instances));

  const Instances present = instances();
  std::vector<InstanceSpec> present_specs;
  for (const auto& instance : present) present_specs.push_back(instance->spec);
  const InstanceChanges changes = CompareInstances(present_specs, compiled.instances);

  auto update = std::make_unique<Update>();
  update->config_json = compiled.json;
  std::set<int> taken;
  for (const auto& instance : present) taken.insert(instance->place);
  for (const size_t index : changes.removed) {
    update->removed.push_back(present[index]);
    taken.erase(present[index]->place);
  }
  // Statistics are kept per place, and there are as many places as the model had instances when it
  // was loaded.
  const int first_count = static_cast<int>(this->config().instances.size());
  std::vector<InstanceSpec> specs;
  std::vector<int> places;
  for (const size_t index : changes.added) {
    // The scheduler may lend its instances to I/O threads, which do not run where a policy says.
    if (Policies(context).count(compiled.instances[index].host_policy_name) > 0) {
      return absl::UnimplementedError("an instance with a host policy needs a reload");
    }
    if (!RunsOn(this->config(), compiled.instances[index])) {
      return absl::UnimplementedError("an instance on another GPU needs a reload");
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

void InstanceSet::PrepareApply(const Instances& present, Update* update) {
  const Instances& removed = update->removed;
  for (const auto& instance : present) {
    if (std::find(removed.begin(), removed.end(), instance) == removed.end()) {
      update->all.push_back(instance);
    }
  }
  update->all.insert(update->all.end(), update->added.begin(), update->added.end());
  if (removed.empty()) return;
  update->ending->left = removed.size();
  for (size_t i = 0; i < removed.size(); ++i) {
    update->settled.push_back([ending = update->ending] {
      if (--ending->left == 0) std::exchange(ending->then, nullptr)();
    });
  }
  // The job holds the model, because the model owns this object.
  update->retire.push_back([this, model = model_->shared_from_this(), removed = update->removed,
                            ending = update->ending]() mutable {
    for (const auto& instance : removed) StopInstance(instance.get());
    for (const auto& instance : removed) instance->runner->Join();
    removed.clear();
    ending->inside = Gate::Pass();
  });
}

void InstanceSet::Apply(Reaper* reaper, std::unique_ptr<Update> update,
                        std::function<void()> then) noexcept {
  for (const auto& instance : update->added) instance->Serve();
  {
    MutexLock lock(&mu_);
    instances_.swap(update->all);
    config_json_.swap(update->config_json);
  }
  LOG_INFO << "model '" << config().name << "' version " << config().version << ": "
           << update->added.size() << " instances added, " << update->removed.size()
           << " removed in place";
  // The removed instances finish their batches in the background. A pass keeps the model until they
  // have ended. There is one, because the model serves.
  if (update->removed.empty()) return then();
  update->ending->inside = lifetime().Enter();
  if (!update->ending->inside) return then();
  update->ending->then = std::move(then);
  for (size_t i = 0; i < update->removed.size(); ++i) {
    update->removed[i]->backend->set_settled(std::move(update->settled[i]));
  }
  // Only the job refers to the removed instances from here on, so that they end with it.
  update->removed.clear();
  update->all.clear();
  reaper->Run(std::move(update->retire));
}

void InstanceSet::StopInstance(RunningInstance* instance) {
  struct Unused {
    Mutex mu;
    CondVar changed;
    bool is_so ABSL_GUARDED_BY(mu) = false;
  } unused;
  // Captures a single pointer, so that the function object takes no memory.
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
    Insist(model_->clock(), [&] { scheduler_->RemoveInstance(instance->backend); });
  }
}

InstanceSet::Instances InstanceSet::instances() const {
  MutexLock lock(&mu_);
  return instances_;
}

InstanceSet::Load InstanceSet::load(uint64_t now_ns) const {
  Load load;
  // Under the lock, because nothing else keeps the instances' backends from their end.
  MutexLock lock(&mu_);
  for (const auto& instance : instances_) {
    if (instance->spec.passive) continue;
    ++load.instances;
    const uint64_t since = instance->backend->busy_since_ns();
    if (since != 0 && now_ns > since) load.running_ns += now_ns - since;
  }
  return load;
}

std::string InstanceSet::ConfigJson() const {
  MutexLock lock(&mu_);
  return config_json_;
}

void InstanceSet::End() {
  Instances last;
  {
    MutexLock lock(&mu_);
    last.swap(instances_);
  }
  for (const auto& instance : last) instance->Close();
  last.clear();  // waits until each instance was finalised on its own thread
}

absl::Status InstanceSet::CheckReady() {
  absl::Status status;
  for (const auto& instance : instances()) {
    const Gate::Pass in_use = instance->in_use.Enter();
    if (!in_use) continue;                      // the instance is being removed
    if (instance->backend->yields()) continue;  // others do its work
    status.Update(instance->backend->CheckReady());
  }
  return status;
}

void InstanceSet::AppendMemory(std::vector<TRITONSERVER_BufferAttributes>* all) {
  for (const auto& instance : instances()) {
    const Gate::Pass in_use = instance->in_use.Enter();
    if (!in_use) continue;  // the instance is being removed
    for (const TRITONSERVER_BufferAttributes& usage : instance->backend->memory()) {
      all->push_back(usage);
    }
  }
}

}  // namespace nereid
