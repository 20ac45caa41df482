#include "server/server.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/status_macros.h"
#include "base/timer.h"
#include "cache/plugin_cache.h"
#include "execution/host_policy.h"
#include "lifecycle/model_manager.h"
#include "observe/metrics/machine_usage.h"
#include "server/parts.h"

namespace nereid {
namespace {

// How long the models may take to finalise at shutdown when nothing is in flight any more.
constexpr std::chrono::seconds kUnloadGrace(5);

// Of a cache that may wait for something. What does not find a place in its queue goes past it.
constexpr int kCacheThreads = 4;
constexpr size_t kMaxWaitingCacheCalls = 1024;

// Files that were changed this long ago are taken to be complete.
constexpr std::chrono::seconds kSettleTime(1);

absl::Status NotReady() { return absl::UnavailableError("Server not ready"); }
absl::Status Exiting() { return absl::UnavailableError("Server exiting"); }

// How often models are looked at again that were swapped between look-up and question.
constexpr int kMostSwaps = 16;

// The models that have to be ready for the server to be; none if some model does not serve.
std::optional<std::vector<std::shared_ptr<ManagedModel>>> ModelsToAsk(
    const ModelDirectory& directory) {
  std::vector<std::shared_ptr<ManagedModel>> models;
  for (const auto& [name, entry] : directory.models) {
    if (entry.versions.empty()) return std::nullopt;
    const bool serves = std::any_of(entry.versions.begin(), entry.versions.end(),
                                    [](auto& v) { return v.second.state == ModelState::kReady; });
    for (const auto& [version, v] : entry.versions) {
      const bool gone_on_purpose =
          v.state == ModelState::kUnloading ||
          (v.state == ModelState::kUnavailable && v.reason == kUnloadedReason);
      // A version that comes beside one that serves takes nothing away: traffic need not go.
      const bool comes_besides = v.state == ModelState::kLoading && serves;
      if (gone_on_purpose || comes_besides) continue;
      if (v.state != ModelState::kReady) return std::nullopt;
      models.push_back(v.model);
    }
  }
  return models;
}

}  // namespace

Server::Server(const ServerOptions& options, Clock* clock)
    : options_(options),
      clock_(clock),
      in_flight_bytes_("in-flight bytes", options.max_in_flight_bytes),
      exit_timeout_secs_(options.exit_timeout_secs),
      machine_usage_(options.metrics && options.cpu_metrics
                         ? std::make_unique<MachineUsage>(
                               clock, std::chrono::milliseconds(options.metrics_interval_ms))
                         : nullptr),
      parts_(std::make_unique<Parts>(&in_flight_bytes_)) {
  gauges_.Add("nereid_in_flight_bytes", "Bytes of requests and responses in flight",
              [this] { return static_cast<double>(in_flight_bytes_.used()); });
  gauges_.Add("nereid_in_flight_bytes_limit",
              "Limit of bytes of requests and responses in flight, 0 if there is none",
              [this] { return static_cast<double>(in_flight_bytes_.limit()); });
}

absl::StatusOr<std::unique_ptr<Server>> Server::Create(const ServerOptions& options) {
  std::unique_ptr<Server> server(new Server(options, Clock::Real()));
  RETURN_IF_ERROR(server->Start());
  return server;
}

absl::Status Server::Start() {
  const bool wildcard = options_.startup_models.count("*") > 0;
  if (wildcard && options_.startup_models.size() > 1) {
    return absl::InvalidArgumentError(
        "Wildcard model name '*' must be the ONLY startup model if specified at all.");
  }
  BackendRegistry::Options backends;
  backends.directory = options_.backend_directory;
  backends.settings = options_.backend_settings;
  backends.auto_complete_config = options_.auto_complete_config;
  parts_->backends = std::make_unique<BackendRegistry>(std::move(backends));

  RETURN_IF_ERROR(LoadCache());
  parts_->timer = std::make_unique<Timer>(clock_);

  ModelManagerOptions manager;
  manager.repositories = options_.model_repositories;
  manager.namespacing = options_.model_namespacing;
  manager.settle_time = kSettleTime;
  manager.repoagent_directory = options_.repoagent_directory;
  manager.model_config_name = options_.model_config_name;
  manager.auto_complete_config = options_.auto_complete_config;
  manager.load_threads = options_.model_load_threads;
  manager.load_retries = options_.model_load_retries;
  LoadContext context;
  context.inline_limit = std::chrono::microseconds(options_.inline_execution_max_us);
  context.file_system = &parts_->file_system;
  context.backends = parts_->backends.get();
  context.clock = clock_;
  context.auto_complete_config = options_.auto_complete_config;
  context.response_cache = parts_->cache.get();
  context.cache_executor = parts_->cache_executor.get();
  context.timer = parts_->timer.get();
  context.hold_until_queued = options_.hold_until_queued;
  context.step_allocator = &parts_->step_allocator;
  context.hold_until_backlogged = options_.hold_until_backlogged;
  RETURN_IF_ERROR(SetUpInstances(&context));
  context.server = this;
  parts_->models = std::make_unique<ModelManager>(std::move(manager), context);
  models_ = parts_->models.get();
  RETURN_IF_ERROR(models_->CheckRepositories());

  std::vector<std::string> failed;
  if (options_.control_mode != ModelControlMode::kExplicit || wildcard) {
    failed = models_->LoadAll();
  } else {
    failed = models_->LoadEach(options_.startup_models);
  }
  if (options_.log_model_table) LogModelTable();
  state_.store(State::kReady);
  if (failed.empty() || !options_.exit_on_error) {
    StartPolling();
    return absl::OkStatus();
  }
  StopQuietly();
  return absl::InternalError(FailedModelsText(failed));
}

absl::Status Server::LoadCache() {
  if (options_.cache_configs.empty()) return absl::OkStatus();
  if (options_.cache_configs.size() > 1) {
    return absl::InvalidArgumentError(
        "found multiple cache configurations, but only a single cache is currently supported");
  }
  const auto& [name, config] = *options_.cache_configs.begin();
  ASSIGN_OR_RETURN(parts_->cache, PluginCache::Load(options_.cache_directory, name, config));
  if (!parts_->cache->answers_at_once()) {
    parts_->cache_executor =
        std::make_unique<Executor>("response cache", kCacheThreads, kMaxWaitingCacheCalls);
  }
  return absl::OkStatus();
}

absl::Status Server::SetUpInstances(LoadContext* context) {
  for (const auto& [policy, settings] : options_.host_policies) {
    RETURN_IF_ERROR(HostPolicy::Make(options_.host_policies, policy).status());
  }
  context->host_policies = &options_.host_policies;
  if (options_.rate_limit) {
    parts_->rate_limiter = std::make_unique<RateLimiter>(options_.rate_limiter_resources);
    context->rate_limiter = parts_->rate_limiter.get();
  } else if (!options_.rate_limiter_resources.empty()) {
    LOG_WARNING << "resources of the rate limiter have no effect: it is off (--rate-limit)";
  }
  return absl::OkStatus();
}

Server::~Server() {
  // Without models the start failed before there was anything to stop.
  if (models_ != nullptr && state_.load() != State::kStopped) {
    if (absl::Status stopped = Stop(); !stopped.ok()) LOG_ERROR << stopped.message();
  }
}

void Server::FinishSequences(TimePoint deadline) {
  if (!models_->HasSequences()) return;
  State expected = State::kReady;
  state_.compare_exchange_strong(expected, State::kExiting);
  LOG_INFO << "Waiting for live sequences to end.";
  models_->CloseAdmission();
  models_->WaitSequencesEnded(deadline);
}

absl::Status Server::Stop() {
  State expected = State::kReady;
  if (!state_.compare_exchange_strong(expected, State::kExiting)) {
    if (expected == State::kStopped) return absl::OkStatus();
  }
  const TimePoint deadline = clock_->Now() + std::chrono::seconds(exit_timeout_secs_.load());
  models_->StopPolling();
  parts_->poller.reset();
  LOG_INFO << "Waiting for in-flight requests to complete.";
  models_->CloseAdmission();
  const bool idle = models_->WaitIdle(deadline);
  LOG_INFO << "All models are stopped, unloading models";
  // The time-out is what requests in flight are given. Finalising idle models is not counted
  // against it, or a time-out of 0 could never end well.
  const TimePoint unload_deadline =
      idle ? std::max(deadline, clock_->Now() + kUnloadGrace) : deadline;
  models_->UnloadAll(unload_deadline);
  if (!idle || !models_->WaitUnloaded(unload_deadline)) {
    return absl::InternalError("Exit timeout expired. Exiting immediately.");
  }
  state_.store(State::kStopped);
  return absl::OkStatus();
}

void Server::StopQuietly() {
  const TimePoint deadline = clock_->Now() + std::chrono::seconds(exit_timeout_secs_.load());
  models_->UnloadAll(deadline);
  models_->WaitUnloaded(deadline);
  state_.store(State::kStopped);
}

absl::StatusOr<bool> Server::IsLive() const {
  if (state_.load() == State::kExiting) return Exiting();
  return state_.load() == State::kReady;
}

absl::StatusOr<bool> Server::IsReady() const {
  if (state_.load() == State::kExiting) return Exiting();
  if (state_.load() != State::kReady) return false;
  if (!options_.strict_readiness) return true;
  for (int swaps = 0; swaps < kMostSwaps; ++swaps) {
    // Backends are asked afterwards: one that calls the server from there gets a newer directory.
    const std::optional<std::vector<std::shared_ptr<ManagedModel>>> models =
        ModelsToAsk(models_->Directory());
    if (!models.has_value()) return false;
    const auto unready = std::find_if(models->begin(), models->end(),
                                      [](const auto& model) { return !model->CheckReady().ok(); });
    if (unready == models->end()) return true;
    if ((*unready)->AdmissionOpen()) return false;
    // It has begun to unload since: by now there may be another.
  }
  return false;
}

absl::StatusOr<bool> Server::IsModelReady(absl::string_view name, int64_t version) const {
  RETURN_IF_ERROR(CheckReady());
  std::shared_ptr<ManagedModel> model;
  absl::Status ready;
  do {
    ASSIGN_OR_RETURN(std::shared_ptr<ManagedModel> current, models_->Find(name, version));
    if (current == model) break;  // nothing has taken its place
    model = std::move(current);
    ready = model->CheckReady();
  } while (!ready.ok() && !model->AdmissionOpen());
  if (!ready.ok()) LOG_WARNING << "model '" << name << "' is not ready: " << ready.message();
  return ready.ok();
}

absl::Status Server::CheckReady() const {
  return state_.load(std::memory_order_acquire) == State::kReady ? absl::OkStatus() : NotReady();
}

absl::StatusOr<std::shared_ptr<ServingModel>> Server::FindModel(absl::string_view name,
                                                                int64_t version) const {
  ASSIGN_OR_RETURN(std::shared_ptr<ManagedModel> model, models_->Find(name, version));
  return std::shared_ptr<ServingModel>(std::move(model));
}

void Server::StartPolling() {
  if (options_.control_mode != ModelControlMode::kPoll || options_.repository_poll_secs == 0) {
    return;
  }
  parts_->poller = std::make_unique<RepositoryPoller>(
      clock_, std::chrono::seconds(options_.repository_poll_secs), [this] {
        // A model that takes long to load does not keep the others waiting: nobody waits here.
        const absl::Status polled = models_->Poll(/*wait=*/false);
        if (!polled.ok()) LOG_ERROR << "failed to poll: " << polled.message();
      });
}

}  // namespace nereid
