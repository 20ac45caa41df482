// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "backend_host/backend_location.h"
#include "base/log.h"
#include "base/processors.h"
#include "base/status_macros.h"
#include "base/timer.h"
#include "cache/plugin_cache.h"
#include "execution/host_policy.h"
#include "filesystem/temp_directory.h"
#include "lifecycle/model_manager.h"
#include "observe/metrics/machine_usage.h"
#include "scheduling/dynamic/inline_policy.h"
#include "server/answer_cache.h"
#include "server/parts.h"

namespace nereid {
namespace {

// How long models may take to finalise at shutdown when nothing is in flight any more.
constexpr std::chrono::seconds kUnloadGrace(5);

// The same if some model is not idle and is left as it is.
constexpr std::chrono::seconds kOthersGrace(1);

// How long shutdown waits for a poll under way, even if the exit time-out is shorter.
constexpr std::chrono::seconds kPollGrace(1);
static_assert(kUnloadGrace + kPollGrace <= Server::kStopGrace);

// The threads for a cache whose calls may block, and the length of their queue. Calls that find the
// queue full bypass the cache.
constexpr int kCacheThreads = 4;
constexpr size_t kMaxWaitingCacheCalls = 1024;

// Files that have not changed for this long are taken to be complete.
constexpr std::chrono::seconds kSettleTime(1);

constexpr char kPollHangs[] = "A look at the model repositories has not returned yet";

absl::Status TimedOut() {
  return absl::InternalError("Exit timeout expired. Exiting immediately.");
}

absl::Status NotReady() { return absl::UnavailableError("Server not ready"); }
absl::Status Exiting() { return absl::UnavailableError("Server exiting"); }

absl::Status Ask(ReadinessFrom from, ManagedModel* model) {
  return from == ReadinessFrom::kBackends ? model->CheckReady() : model->KnownReady();
}

absl::Status CheckRecording(const ServerOptions& server) {
  if (server.record_tensors && server.record_file.empty()) {
    return absl::InvalidArgumentError("--record-tensors has a meaning only with --record=FILE");
  }
  if (!server.record_tensors && !server.record_secrets.empty()) {
    return absl::InvalidArgumentError(
        "--record-redact has a meaning only with --record-tensors=true");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TrafficRecorder>> OpenRecording(const ServerOptions& server,
                                                               Clock* clock, InputRecorder* inputs,
                                                               TrafficRecorder::Models models) {
  if (server.recorder_events == 0) {
    return absl::InvalidArgumentError(
        "--record writes what instances remember: --recorder-events must be greater than 0");
  }
  TrafficRecorderOptions options;
  options.file = server.record_file;
  options.max_bytes = server.record_max_bytes;
  options.sample = server.record_sample;
  return TrafficRecorder::Open(options, clock, inputs, std::move(models));
}

ModelManagerOptions ManagerOptions(const ServerOptions& server) {
  ModelManagerOptions manager;
  manager.repositories = server.model_repositories;
  manager.namespacing = server.model_namespacing;
  manager.single_model_name = server.single_model_name;
  manager.settle_time = kSettleTime;
  manager.repoagent_directory = server.repoagent_directory;
  manager.model_config_name = server.model_config_name;
  manager.auto_complete_config = server.auto_complete_config;
  manager.load_threads = server.model_load_threads;
  manager.load_retries = server.model_load_retries;
  return manager;
}

// What loads need of the options; the parts of the server are still missing.
LoadContext ContextOf(const ServerOptions& server) {
  LoadContext context;
  context.inline_limit = server.inline_execution_max_us.has_value()
                             ? std::chrono::microseconds(*server.inline_execution_max_us)
                             : InlinePolicy::DefaultLimit(UsableProcessors());
  context.auto_complete_config = server.auto_complete_config;
  context.hold_until_queued = server.hold_until_queued;
  context.hold_until_backlogged = server.hold_until_backlogged;
  context.metrics_interval = std::chrono::milliseconds(server.metrics_interval_ms);
  context.recorded_events = server.recorder_events;
  context.metrics = server.metrics ? server.metrics_config : MetricsConfig::Off();
  return context;
}

}  // namespace

Server::Server(const ServerOptions& options, Clock* clock)
    : options_(options),
      clock_(clock),
      started_(clock->Now()),
      in_flight_bytes_("in-flight bytes", options.max_in_flight_bytes, "--max-in-flight-bytes"),
      in_flight_requests_("in-flight requests", options.max_in_flight_requests,
                          "--max-in-flight-requests"),
      exit_timeout_secs_(options.exit_timeout_secs),
      machine_usage_(options.metrics && options.cpu_metrics
                         ? std::make_unique<MachineUsage>(
                               clock, std::chrono::milliseconds(options.metrics_interval_ms))
                         : nullptr),
      live_(std::make_unique<AnswerCache>(clock)),
      parts_(std::make_unique<Parts>()) {
  gauges_.Add("nereid_in_flight_bytes", "Bytes of requests and responses in flight",
              [this] { return static_cast<double>(in_flight_bytes_.used()); });
  gauges_.Add("nereid_in_flight_bytes_limit",
              "Limit of bytes of requests and responses in flight, 0 if there is none",
              [this] { return static_cast<double>(in_flight_bytes_.limit()); });
  gauges_.Add("nereid_in_flight_requests", "Requests that clients of HTTP and gRPC have open",
              [this] { return static_cast<double>(in_flight_requests_.used()); });
  gauges_.Add("nereid_in_flight_requests_limit",
              "Limit of requests that clients have open, 0 if there is none",
              [this] { return static_cast<double>(in_flight_requests_.limit()); });
  gauges_.Add("nereid_log_dropped",
              "Lines of the log that are lost: they came faster than they were read or written",
              [] { return static_cast<double>(Log::dropped()); });
  gauges_.Add("nereid_model_requests_limit",
              "Limit of requests and live sequences of a version of a model, 0 if there is none",
              [this] { return static_cast<double>(options_.max_model_requests); });
}

absl::StatusOr<Server::Owner> Server::Create(const ServerOptions& options) {
  Owner server(new Server(options, Clock::Real()));
  RETURN_IF_ERROR(server->Start());
  return server;
}

absl::Status Server::Start() {
  const bool wildcard = options_.startup_models.count("*") > 0;
  if (wildcard && options_.startup_models.size() > 1) {
    return absl::InvalidArgumentError(
        "Wildcard model name '*' must be the ONLY startup model if specified at all.");
  }
  RETURN_IF_ERROR(CheckRecording(options_));
  TempDirectory::RemoveLeftovers();
  FindDevices();
  BackendRegistry::Options backends;
  backends.directory = options_.backend_directory;
  backends.settings = options_.backend_settings;
  backends.auto_complete_config = options_.auto_complete_config;
  backends.watch = options_.watch_backend;
  backends.devices = parts_->devices.get();
  for (const auto& [backend, settings] : options_.backend_settings) {
    if (backend.empty()) continue;  // for all backends
    const std::string missing = DescribeMissingBackend(options_.backend_directory, backend);
    if (!missing.empty()) LOG_WARNING << missing;
  }
  parts_->backends = std::make_unique<BackendRegistry>(std::move(backends));

  RETURN_IF_ERROR(LoadCache());
  parts_->timer = std::make_unique<Timer>(clock_);
  parts_->readiness = std::make_unique<ReadinessChecker>(clock_);

  SetUpCloud();
  LoadContext context = ContextOf(options_);
  context.file_system = parts_->file_system.get();
  context.devices = parts_->devices.get();
  context.backends = parts_->backends.get();
  context.clock = clock_;
  context.response_cache = parts_->cache.get();
  context.cache_executor = parts_->cache_executor.get();
  context.timer = parts_->timer.get();
  context.readiness = parts_->readiness.get();
  context.step_allocator = parts_->step_allocator.get();
  if (options_.record_tensors) {
    parts_->inputs =
        std::make_unique<InputRecorder>(options_.record_sample, options_.record_secrets);
    context.input_recorder = parts_->inputs.get();
  }
  RETURN_IF_ERROR(SetUpInstances(&context));
  context.server = this;
  parts_->models = std::make_unique<ModelManager>(ManagerOptions(options_), context);
  models_ = parts_->models.get();
  RETURN_IF_ERROR(SetUpDemand());
  if (absl::Status readable = models_->CheckRepositories(); !readable.ok()) {
    if (options_.exit_on_error) return readable;
    LOG_ERROR << "the server is neither live nor ready, and stays (--exit-on-error=false): "
              << readable.message();
    state_.store(State::kFailed);
    return absl::OkStatus();
  }

  if (!options_.record_file.empty()) {
    ASSIGN_OR_RETURN(parts_->traffic, OpenRecording(options_, clock_, parts_->inputs.get(),
                                                    [this] { return RecordingModels(); }));
  }
  std::vector<std::string> failed;
  const bool on_demand = options_.control_mode == ModelControlMode::kOnDemand;
  if (on_demand) {
    failed = LoadPinned(options_.startup_models);
  } else if (options_.control_mode != ModelControlMode::kExplicit || wildcard) {
    failed = models_->LoadAll();
  } else {
    failed = models_->LoadEach(options_.startup_models);
  }
  if (options_.log_tables) LogTables();
  state_.store(State::kReady);
  if (failed.empty() || !options_.exit_on_error) {
    StartPolling();
    return absl::OkStatus();
  }
  // No request can have been sent yet.
  (void)EndModels(/*idle=*/true, /*polls_ended=*/true,
                  clock_->Now() + std::chrono::seconds(exit_timeout_secs_.load()));
  return absl::InternalError(FailedModelsText(failed));
}

void Server::SetUpCloud() {
  parts_->cloud_program =
      std::make_unique<CloudProgram>(options_.cloud_program, options_.cloud_timeout_secs);
  parts_->cloud_cache = std::make_unique<CloudCache>(
      CloudCache::Options{options_.cloud_cache_directory, options_.cloud_copies_parent,
                          options_.cloud_cache_bytes},
      parts_->cloud_program.get(), clock_);
  parts_->file_system = std::make_unique<CloudFileSystem>(
      &parts_->local_files, parts_->cloud_program.get(), parts_->cloud_cache.get());
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
    parts_->cache_executor = std::make_unique<ThreadPool>(
        ThreadPoolOptions{.name = "response cache",
                          .threads = kCacheThreads,
                          .most_threads = kCacheThreads,  // a cache that hangs hangs for all
                          .queue_limit = kMaxWaitingCacheCalls,
                          .clock = clock_});
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

Server::~Server() = default;

void Server::End::operator()(Server* server) const {
  // Without models_, the start failed before there was anything to stop.
  if (server->models_ != nullptr && !server->hangs_.load()) {
    try {
      (void)server->Stop();
    } catch (const std::exception& e) {  // no memory for the stop
      LOG_ERROR << "failed to stop the server: " << e.what();
      server->hangs_.store(true);
    }
  }
  if (!server->hangs_.load()) {
    delete server;
    return;
  }
  LOG_ERROR << "the server does not stop: it is left as it is, because what hangs still uses it";
}

void Server::Drain(TimePoint deadline) {
  State expected = State::kReady;
  state_.compare_exchange_strong(expected, State::kExiting);
  LOG_INFO << "Waiting for in-flight requests to complete.";
  models_->StopPolling();
  models_->StopWaitingForClients();
  if (parts_->demand != nullptr) parts_->demand->EndWaits();
  models_->WaitIdle(deadline);
}

absl::Status Server::Stop() {
  return StopBy(clock_->Now() + std::chrono::seconds(exit_timeout_secs_.load()));
}

absl::Status Server::StopBy(TimePoint deadline) {
  State expected = State::kReady;
  if (state_.compare_exchange_strong(expected, State::kExiting)) {
    LOG_INFO << "Waiting for in-flight requests to complete.";
  } else if (expected == State::kStopped) {
    return absl::OkStatus();
  }
  models_->CloseAdmission();
  const bool polls_ended = EndPolling(deadline);
  models_->CloseAdmission();  // again, for models that the last poll has loaded
  const bool idle = models_->WaitIdle(deadline);
  LOG_INFO << "All models are stopped, unloading models";
  if (!polls_ended) LOG_ERROR << kPollHangs;
  return EndModels(idle, polls_ended, deadline);
}

bool Server::EndPolling(TimePoint deadline) {
  models_->StopPolling();
  const TimePoint latest = std::max(deadline, clock_->Now() + kPollGrace);
  const bool demand_ended = parts_->demand == nullptr || parts_->demand->Stop(latest);
  return (parts_->poller == nullptr || parts_->poller->Stop(latest)) && demand_ended;
}

absl::Status Server::EndModels(bool idle, bool polls_ended, TimePoint deadline) {
  // The time-out is for requests in flight. The time to finalise idle models is extra: otherwise a
  // time-out of 0 could never succeed. If a model is not idle, the others are still unloaded, with
  // their files and agents.
  const TimePoint unload_deadline =
      std::max(deadline, clock_->Now() + (idle ? kUnloadGrace : kOthersGrace));
  if (parts_->traffic != nullptr) parts_->traffic->Poll();  // knows models that have come just now
  models_->control()->Close(NotReady());
  models_->UnloadAll(unload_deadline);
  const bool unloaded = models_->WaitUnloaded(unload_deadline) && idle;
  hangs_.store(!unloaded || !polls_ended);
  if (!hangs_.load()) {
    state_.store(State::kStopped);
    return absl::OkStatus();
  }
  for (const std::string& text : models_->Unfinished()) LOG_ERROR << text;
  return TimedOut();
}

std::vector<std::string> Server::Unfinished() const {
  std::vector<std::string> texts = models_->Unfinished();
  if (parts_->poller != nullptr && !parts_->poller->Stop(TimePoint::min())) {
    texts.push_back(kPollHangs);
  }
  return texts;
}

absl::StatusOr<bool> Server::IsLive() const {
  if (state_.load() == State::kExiting) return Exiting();
  return state_.load() == State::kReady;
}

absl::StatusOr<bool> Server::IsReady(ReadinessFrom from) const {
  if (state_.load() == State::kExiting) return Exiting();
  if (state_.load() != State::kReady || lame_duck_.load()) return false;
  if (!options_.strict_readiness || parts_->demand != nullptr) return true;
  const auto ready = RetryOverSwaps([&]() -> std::optional<bool> {
    // Collected before any backend is asked: a backend that calls the server may replace this
    // thread's directory.
    const std::optional<std::vector<std::shared_ptr<ManagedModel>>> models =
        models_->Directory().Expected();
    if (!models.has_value()) return false;
    const auto unready = std::find_if(models->begin(), models->end(), [&](const auto& model) {
      return !Ask(from, model.get()).ok();
    });
    if (unready == models->end()) return true;
    if ((*unready)->AdmissionOpen()) return false;
    return std::nullopt;  // the model has begun to unload meanwhile
  });
  return ready.value_or(false);
}

absl::StatusOr<bool> Server::IsModelReady(absl::string_view name, int64_t version,
                                          ReadinessFrom from) const {
  // While the server starts only backends can ask: a model that is initialized calls others.
  if (state_.load(std::memory_order_acquire) != State::kStarting) RETURN_IF_ERROR(CheckReady());
  std::shared_ptr<ManagedModel> asked;
  absl::Status ready;
  const auto found = RetryOverSwaps([&]() -> std::optional<absl::Status> {
    absl::StatusOr<std::shared_ptr<ManagedModel>> model = models_->Find(name, version);
    if (!model.ok()) {
      ready = absl::OkStatus();
      return IsOnDemand(name) ? absl::OkStatus() : model.status();
    }
    if (*model == asked) return absl::OkStatus();  // not replaced: its answer counts
    asked = *std::move(model);
    ready = Ask(from, asked.get());
    if (!ready.ok() && !asked->AdmissionOpen()) return std::nullopt;
    return absl::OkStatus();
  });
  if (found.has_value()) RETURN_IF_ERROR(*found);
  if (lame_duck_.load()) return false;
  // The readiness checker logs its own results.
  if (!ready.ok() && from == ReadinessFrom::kBackends) {
    LOG_WARNING_SELDOM << "model '" << name << "' is not ready: " << ready.message();
  }
  return ready.ok();
}

absl::Status Server::CheckReady() const {
  return state_.load(std::memory_order_acquire) == State::kReady ? absl::OkStatus() : NotReady();
}

absl::StatusOr<std::shared_ptr<ServingModel>> Server::FindModel(absl::string_view name,
                                                                int64_t version) const {
  if (state_.load(std::memory_order_acquire) == State::kFailed) return NotReady();
  ASSIGN_OR_RETURN(std::shared_ptr<ManagedModel> model, FindOrDemand(name, version));
  return std::shared_ptr<ServingModel>(std::move(model));
}

void Server::StartPolling() {
  if (parts_->demand != nullptr) parts_->demand->Start();
  if (options_.control_mode != ModelControlMode::kPoll || options_.repository_poll_secs == 0) {
    return;
  }
  parts_->poller = std::make_unique<Ticker>(
      clock_, std::chrono::seconds(options_.repository_poll_secs), "poll", [this] {
        // Does not wait for loads, so that a slow one does not delay later polls.
        const absl::Status polled = models_->Poll(/*wait=*/false);
        if (!polled.ok()) LOG_ERROR << "failed to poll: " << polled.message();
      });
}

}  // namespace nereid
