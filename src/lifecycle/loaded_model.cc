#include "lifecycle/loaded_model.h"

#include <absl/algorithm/container.h>
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>

#include "base/log.h"
#include "base/status_macros.h"
#include "config/states.h"
#include "lifecycle/model_fingerprint.h"
#include "lifecycle/output_labels.h"
#include "lifecycle/running_instance.h"
#include "scheduling/adaptive/adaptive_target.h"

namespace nereid {
namespace {

// Model parameter: whether I/O threads may execute this model where it is found to be short.
constexpr char kInlineParameter[] = "nereid.inline_execution";

}  // namespace

LoadedModel::LoadedModel(std::shared_ptr<const CompiledModel> config, OutputLabels labels,
                         Clock* clock, std::unique_ptr<ModelHandle> model)
    : ManagedModel(std::move(config), std::move(labels), clock), model_(std::move(model)) {
  model_->set_serving_model(this);
  set_reads_pieces(model_->backend()->attributes().reads_pieces);
}

LoadedModel::~LoadedModel() {
  // Mostly Close has done it. The last reference may go on any thread, with an old picture of the
  // directory: nothing may be needed there that could be refused.
  if (model_ != nullptr) TearDown();
}

absl::StatusOr<std::shared_ptr<LoadedModel>> LoadedModel::Load(const LoadContext& context,
                                                               const ParsedConfig& parsed,
                                                               const std::string& model_dir,
                                                               int64_t version) {
  const TimePoint start = context.clock->Now();
  ASSIGN_OR_RETURN(std::shared_ptr<BackendHandle> backend,
                   context.backends->Get(parsed, model_dir, version));
  ParsedConfig config = parsed;
  if (backend->python_based()) config.SetRuntime(kPythonRuntime);
  RETURN_IF_ERROR(config.NormalizeInstanceGroups(backend->attributes().preferred_groups));
  for (const std::string& note : config.notes()) LOG_INFO << note;

  ModelHandleOptions options;
  options.repository_dir = model_dir;
  options.version = version;
  options.auto_complete_config = context.auto_complete_config;
  options.server = context.server;
  auto model = std::make_unique<ModelHandle>(backend, std::move(config), std::move(options));
  RETURN_IF_ERROR(model->Initialize());

  ASSIGN_OR_RETURN(CompiledModel compiled, model->config().Compile(version));
  RETURN_IF_ERROR(LoadInitialStates(*context.file_system, model_dir, &compiled));
  ASSIGN_OR_RETURN(OutputLabels labels, ReadLabels(*context.file_system, compiled, model_dir));
  std::shared_ptr<LoadedModel> loaded(
      new LoadedModel(std::make_shared<const CompiledModel>(std::move(compiled)), std::move(labels),
                      context.clock, std::move(model)));
  // Here and now if it fails: the last one to refer to it may be a thread of the backend.
  absl::Cleanup tear_down = [&] { loaded->TearDown(); };
  RETURN_IF_ERROR(loaded->StartInstances(context, model_dir));
  if (context.response_cache != nullptr) {
    loaded->set_fingerprint(ModelFingerprint(*context.file_system, model_dir, loaded->config()));
  }
  loaded->UseCache(context);
  loaded->PreserveOrdering();
  loaded->CheckFromNowOn(context.readiness);
  loaded->load_seconds_ = std::chrono::duration<double>(context.clock->Now() - start).count();
  std::move(tear_down).Cancel();
  return loaded;
}

absl::StatusOr<Duration> LoadedModel::InlineLimit(const LoadContext& context) const {
  bool allowed = model_->backend()->attributes().executes_briefly;
  if (const auto it = config().parameters.find(kInlineParameter); it != config().parameters.end()) {
    if (it->second != "true" && it->second != "false") {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter '", kInlineParameter, "' of model '", config().name, "' is '",
                       it->second, "'; it must be 'true' or 'false'"));
    }
    allowed = it->second == "true";
  }
  // What an instance's thread has to wait for, an I/O thread must not go past.
  allowed = allowed && context.rate_limiter == nullptr;
  // A host policy says which processors an instance runs on.
  for (const InstanceSpec& instance : config().instances) {
    allowed = allowed && (context.host_policies == nullptr ||
                          context.host_policies->count(instance.host_policy_name) == 0);
  }
  return allowed ? context.inline_limit : Duration(0);
}

absl::Status LoadedModel::MakeScheduler(const LoadContext& context) {
  RETURN_IF_ERROR(CheckNotAllPassive(config().name, config().instances));
  const auto active =
      absl::c_count_if(config().instances, [](const InstanceSpec& spec) { return !spec.passive; });
  ASSIGN_OR_RETURN(const Duration inline_limit, InlineLimit(context));
  if (config().sequence.enabled) {
    RETURN_IF_ERROR(AdaptiveTarget(config(), {}).status());
    sequences_ = std::make_unique<SequenceScheduler>(
        &config(), static_cast<uint32_t>(active), clock(),
        SequenceSchedulerOptions{context.timer, context.hold_until_queued,
                                 context.hold_until_backlogged});
    front_ = sequences_.get();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<BatchStrategy> strategy, model_->MakeBatchStrategy(config()));
  ASSIGN_OR_RETURN(
      const Duration target,
      AdaptiveTarget(config(), {strategy != nullptr, context.rate_limiter != nullptr}));
  scheduler_ = std::make_unique<DynamicScheduler>(
      &config(), std::move(strategy), clock(), inline_limit,
      DynamicSchedulerOptions{context.timer, context.hold_until_queued, target});
  front_ = scheduler_.get();
  return absl::OkStatus();
}

absl::StatusOr<BatchSource*> LoadedModel::MakeSource(const LoadContext& context,
                                                     RunningInstance* instance, uint32_t active) {
  // A passive instance never pulls.
  if (instance->spec.passive) return nullptr;
  BatchSource* source = scheduler_.get();
  StagedSource* staged = scheduler_.get();
  if (sequences_ != nullptr) {
    source = sequences_->source(active);
    staged = sequences_->source(active);
  }
  if (context.rate_limiter == nullptr) return source;
  ASSIGN_OR_RETURN(std::unique_ptr<RateLimiter::Seat> seat,
                   context.rate_limiter->Register(instance->spec));
  instance->limited = std::make_unique<RateLimitedSource>(staged, std::move(seat));
  return instance->limited.get();
}

absl::Status LoadedModel::StartInstances(const LoadContext& context, const std::string& model_dir) {
  RETURN_IF_ERROR(MakeScheduler(context));
  std::vector<int> places(config().instances.size());
  std::iota(places.begin(), places.end(), 0);
  ASSIGN_OR_RETURN(Instances started,
                   MakeInstances(context, config().instances, places, model_dir));
  for (const auto& instance : started) instance->Serve();
  MutexLock lock(&mu_);
  instances_ = std::move(started);
  return absl::OkStatus();
}

void LoadedModel::UseCache(const LoadContext& context) {
  if (!config().response_cache) return;
  if (context.response_cache == nullptr) {
    LOG_WARNING << "model '" << config().name
                << "' asks for the response cache, but the server was started without one "
                   "(--cache-config)";
    return;
  }
  cached_ =
      std::make_unique<CachedScheduler>(scheduler_.get(), context.response_cache,
                                        context.cache_executor, config(), fingerprint(), clock());
  front_ = cached_.get();
}

void LoadedModel::PreserveOrdering() {
  // In a sequence model it is the matter of each instance.
  if (!config().batching.preserve_ordering || sequences_ != nullptr) return;
  ordered_ = std::make_unique<OrderedScheduler>(front_);
  front_ = ordered_.get();
}

absl::Status LoadedModel::CheckReady() {
  const Gate::Pass inside = lifetime().Enter();
  if (!inside) {
    return absl::UnavailableError(absl::StrCat("model '", config().name, "' is being unloaded"));
  }
  absl::Status status;
  for (const auto& instance : instances()) {
    const Gate::Pass in_use = instance->in_use.Enter();
    if (!in_use) continue;  // it is going
    status.Update(instance->handle->CheckReady());
  }
  return status;
}

void LoadedModel::CheckFromNowOn(ReadinessChecker* checker) {
  if (checker == nullptr || model_->backend()->entry_points().instance_ready == nullptr) return;
  readiness_ = checker->Add(absl::StrCat("'", config().name, "' version ", config().version),
                            [weak = weak_from_this()]() -> std::optional<absl::Status> {
                              const std::shared_ptr<ServingModel> model = weak.lock();
                              if (model == nullptr || !model->AdmissionOpen()) return std::nullopt;
                              absl::Status ready = model->CheckReady();
                              if (!model->AdmissionOpen()) return std::nullopt;
                              return ready;
                            });
}

absl::Status LoadedModel::KnownReady() {
  if (!AdmissionOpen()) {
    return absl::UnavailableError(absl::StrCat("model '", config().name, "' is being unloaded"));
  }
  return readiness_ == nullptr ? absl::OkStatus() : readiness_->Probe();
}

int64_t LoadedModel::InFlight() {
  const int64_t inside = lifetime().inside();
  if (sequences_ == nullptr || inside == 0) return inside;
  return std::max<int64_t>(1, static_cast<int64_t>(sequences_->sequences_in_slots()));
}

std::optional<AdaptiveBatching> LoadedModel::adaptive_batching() const {
  if (scheduler_ == nullptr) return std::nullopt;
  const std::optional<BatchPlan> plan = scheduler_->adaptive_plan();
  if (!plan.has_value()) return std::nullopt;
  return AdaptiveBatching{plan->delay, plan->max_units};
}

void LoadedModel::CloseAdmission() {
  admission_open_.store(false, std::memory_order_release);
  front_->CloseAdmission();
}

void LoadedModel::TearDown() {
  if (scheduler_ != nullptr) scheduler_->Shutdown();
  if (sequences_ != nullptr) sequences_->Shutdown();
  Instances last;
  {
    MutexLock lock(&mu_);
    last.swap(instances_);
  }
  for (const auto& instance : last) instance->Close();
  last.clear();  // joins, and finalises each instance on its own thread
  if (scheduler_ != nullptr) scheduler_->DropStrategy();
  // Finalises it. Also lets go of the backend: someone may keep this object for a long time, and
  // the backend is to be finalised with the server.
  model_.reset();
}

std::vector<TRITONSERVER_BufferAttributes> LoadedModel::memory() {
  const Gate::Pass inside = lifetime().Enter();
  if (!inside) return {};
  std::vector<TRITONSERVER_BufferAttributes> all = model_->memory();
  for (const auto& instance : instances()) {
    const Gate::Pass in_use = instance->in_use.Enter();
    if (!in_use) continue;  // it is going
    for (const TRITONSERVER_BufferAttributes& usage : instance->handle->memory()) {
      all.push_back(usage);
    }
  }
  return all;
}

}  // namespace nereid
