// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/loaded_model.h"

#include <absl/algorithm/container.h>
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "base/log.h"
#include "base/status_macros.h"
#include "config/states.h"
#include "device/devices.h"
#include "lifecycle/model/version_files.h"
#include "scheduling/adaptive/adaptive_policy.h"

namespace nereid {
namespace {

constexpr MetricFamily kInstances = {"nereid_instance_count", MetricKind::kGauge,
                                     "Instances of the model version that take requests",
                                     MetricSection::kExecutions};
constexpr MetricFamily kBusySeconds = {
    "nereid_instance_busy_seconds_total", MetricKind::kCounter,
    "Time that the instances of the model version have spent on executions, in seconds",
    MetricSection::kExecutions};
constexpr MetricFamily kUtilization = {
    "nereid_instance_utilization", MetricKind::kGauge,
    "Share of their time that the instances of the model version have spent on executions since "
    "the last reading [0.0 - 1.0]",
    MetricSection::kExecutions};

// The GPUs that the model's instances are on.
std::set<int64_t> GpusOf(const CompiledModel& model) {
  std::set<int64_t> gpus;
  for (const InstanceSpec& instance : model.instances) {
    if (instance.kind == InstanceKind::kGpu) gpus.insert(instance.device_id);
  }
  return gpus;
}

}  // namespace

LoadedModel::LoadedModel(const LoadContext& context, std::shared_ptr<const CompiledModel> config,
                         OutputLabels labels, std::unique_ptr<BackendModel> model, Duration target)
    : ManagedModel(std::move(config), std::move(labels), context.clock, context.metrics, target,
                   context.recorded_events),
      model_(std::move(model)),
      busy_share_(context.clock->Now(), context.metrics_interval) {
  model_->set_serving_model(this);
  set_reads_pieces(model_->backend()->attributes().reads_pieces);
  set_devices(context.devices);
  set_input_recorder(context.input_recorder);
}

LoadedModel::~LoadedModel() {
  // Usually Close has torn the model down. The last reference may end on any thread, with an old
  // snapshot of the directory, so nothing here may need memory or a new thread.
  if (model_ != nullptr) TearDown();
}

absl::StatusOr<std::shared_ptr<LoadedModel>> LoadedModel::Load(const LoadContext& context,
                                                               const ParsedConfig& parsed,
                                                               const std::string& model_dir,
                                                               int64_t version) {
  const TimePoint start = context.clock->Now();
  ASSIGN_OR_RETURN(std::shared_ptr<LoadedBackend> backend,
                   context.backends->Get(parsed, model_dir, version));
  ParsedConfig config = parsed;
  if (backend->python_based()) config.SetRuntime(kPythonRuntime);
  RETURN_IF_ERROR(config.NormalizeInstanceGroups(PlacementRulesFor(context, *backend)));
  for (const std::string& note : config.notes()) LOG_INFO << note;

  BackendModelOptions options;
  options.repository_dir = model_dir;
  options.version = version;
  options.auto_complete_config = context.auto_complete_config;
  options.server = context.server;
  auto model = std::make_unique<BackendModel>(backend, std::move(config), std::move(options));
  RETURN_IF_ERROR(model->Initialize());

  ASSIGN_OR_RETURN(CompiledModel compiled, model->config().Compile(version));
  RETURN_IF_ERROR(LoadInitialStates(*context.file_system, model_dir, &compiled));
  ASSIGN_OR_RETURN(OutputLabels labels, ReadLabels(*context.file_system, compiled, model_dir));
  // What is wrong with a target is reported when the scheduler is made.
  const Duration target = AdaptiveTarget(compiled, {}).value_or(Duration(0));
  std::shared_ptr<LoadedModel> loaded(
      new LoadedModel(context, std::make_shared<const CompiledModel>(std::move(compiled)),
                      std::move(labels), std::move(model), target));
  // If the load fails, the model is torn down here: the last reference may end on a thread of the
  // backend, which cannot wait for its own end.
  absl::Cleanup tear_down = [&] { loaded->TearDown(); };
  if (context.response_cache != nullptr) {
    loaded->set_fingerprint(ModelFingerprint(*context.file_system, model_dir, loaded->config()));
  }
  RETURN_IF_ERROR(loaded->MakeScheduler(context));
  loaded->instances_ =
      std::make_unique<InstanceSet>(loaded->model_.get(), loaded->scheduler_.get());
  RETURN_IF_ERROR(loaded->instances_->Start(context, model_dir));
  loaded->CheckFromNowOn(context.readiness);
  loaded->load_seconds_ = std::chrono::duration<double>(context.clock->Now() - start).count();
  std::move(tear_down).Cancel();
  return loaded;
}

Duration LoadedModel::InlineLimit(const LoadContext& context) const {
  // An I/O thread must not execute before the rate limiter permits it, and cannot wait for that.
  if (context.rate_limiter != nullptr) return Duration(0);
  // A host policy decides on which processors an instance runs, and one on a GPU waits for it.
  const bool placed = absl::c_any_of(config().instances, [&](const InstanceSpec& instance) {
    return instance.kind == InstanceKind::kGpu ||
           (context.host_policies != nullptr &&
            context.host_policies->count(instance.host_policy_name) > 0);
  });
  return placed ? Duration(0) : context.inline_limit;
}

absl::Status LoadedModel::MakeScheduler(const LoadContext& context) {
  RETURN_IF_ERROR(InstanceSet::CheckNotAllPassive(config().name, config().instances));
  BackendTraits backend;
  backend.inline_limit = InlineLimit(context);
  backend.executes_briefly = model_->executes_briefly();
  backend.rate_limited = context.rate_limiter != nullptr;
  backend.make_strategy = [this] { return model_->MakeBatchStrategy(config()); };
  ASSIGN_OR_RETURN(scheduler_,
                   nereid::MakeScheduler(config(), fingerprint(), ToolsOf(context), backend));
  return absl::OkStatus();
}

absl::Status LoadedModel::CheckReady() {
  const Gate::Pass inside = lifetime().Enter();
  if (!inside) {
    return absl::UnavailableError(absl::StrCat("model '", config().name, "' is being unloaded"));
  }
  for (const int64_t id : GpusOf(config())) {
    Gpu* const gpu = devices().Get(id);
    // Finds out whether a backend has ended the context. There is nothing to end before it is made.
    if (gpu != nullptr && gpu->has_context()) gpu->ReadMemory().IgnoreError();
  }
  RETURN_IF_ERROR(GpuFailure());
  return instances_->CheckReady();
}

absl::Status LoadedModel::GpuFailure() const {
  for (const int64_t id : GpusOf(config())) {
    if (const Gpu* const gpu = devices().Get(id); gpu != nullptr) RETURN_IF_ERROR(gpu->failure());
  }
  return absl::OkStatus();
}

void LoadedModel::CheckFromNowOn(ReadinessChecker* checker) {
  const bool backend_knows = model_->backend()->entry_points().instance_ready != nullptr;
  if (checker == nullptr || (!backend_knows && GpusOf(config()).empty())) return;
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
  RETURN_IF_ERROR(GpuFailure());
  return readiness_ == nullptr ? absl::OkStatus() : readiness_->Probe();
}

int64_t LoadedModel::InFlight() {
  const int64_t inside = lifetime().inside();
  const std::optional<size_t> sequences = scheduler_->sequences_in_slots();
  if (!sequences.has_value() || inside == 0) return inside;
  return std::max<int64_t>(1, static_cast<int64_t>(*sequences));
}

void LoadedModel::DescribeMetrics(MetricSink* sink) const {
  ManagedModel::DescribeMetrics(sink);
  scheduler_->DescribeMetrics(sink);
  DescribeInstances(sink);
}

ManagedModel::Work LoadedModel::work(TimePoint now) const {
  // First what has ended, so that an execution that ends meanwhile is not counted twice.
  const uint64_t ended_ns = statistics().busy_ns();
  const InstanceSet::Load load = instances_->load(ToNanos(now));
  return {load.instances, ended_ns + load.running_ns};
}

void LoadedModel::DescribeInstances(MetricSink* sink) const {
  const TimePoint now = clock()->Now();
  const Work done = work(now);
  const BusyShare::Reading reading = busy_share_.Read(now, done.busy_ns, done.instances);
  sink->Report(kInstances, done.instances);
  sink->Report(kBusySeconds, reading.busy_seconds);
  sink->Report(kUtilization, reading.share);
}

void LoadedModel::CloseAdmission() {
  admission_open_.store(false, std::memory_order_release);
  scheduler_->CloseAdmission();
  StopWaitingForClients();
}

void LoadedModel::TearDown() {
  if (scheduler_ != nullptr) scheduler_->Shutdown();
  if (instances_ != nullptr) instances_->End();
  if (scheduler_ != nullptr) scheduler_->DropStrategy();
  // Finalises the model. Also releases the backend: a reference may keep this object for a long
  // time, and the backend has to be finalised with the server.
  model_.reset();
}

std::vector<TRITONSERVER_BufferAttributes> LoadedModel::memory() {
  const Gate::Pass inside = lifetime().Enter();
  if (!inside) return {};
  std::vector<TRITONSERVER_BufferAttributes> all = model_->memory();
  instances_->AppendMemory(&all);
  return all;
}

std::string LoadedModel::ConfigJson() const {
  std::string changed = instances_->ConfigJson();
  return changed.empty() ? config().json : changed;
}

}  // namespace nereid
