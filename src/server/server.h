// SPDX-License-Identifier: Apache-2.0
// Server: the inference server, without any protocol. The C API and the frontends are its
// clients. Thread-safe.
#ifndef NEREID_SERVER_SERVER_H_
#define NEREID_SERVER_SERVER_H_

#include <absl/functional/any_invocable.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/export.h"
#include "base/log.h"
#include "infer/flight.h"
#include "infer/infer_request.h"
#include "infer/serving_model.h"
#include "lifecycle/control_client.h"
#include "observe/metrics/gauges.h"
#include "repository/load_override.h"
#include "repository/snapshot.h"
#include "server/options.h"
#include "server/recordings.h"
#include "server/reports.h"

namespace nereid {

class AnswerCache;
struct LiveModel;
struct LiveServer;
class MachineUsage;
class ManagedModel;
class ModelManager;
struct CompiledModel;
struct DeviceSamples;
struct LiveGpu;
struct LoadContext;

inline constexpr int64_t kLatestVersion = -1;

// Where the answer to "is this model ready?" comes from.
enum class ReadinessFrom {
  kBackends,   // backends are asked now; blocks as they do
  kLastAnswer  // the latest answer of the backend (lifecycle/model/readiness_checker.h); never
               // blocks
};

class NEREID_API Server final : public Flight::Issuer {
 public:
  // Starts a server and loads its models; blocks until each has loaded or failed. With
  // options.exit_on_error a model that fails, or a repository that cannot be read, makes this fail.
  // Otherwise a model that fails is reported in the repository index; without its repositories the
  // server is neither live nor ready, and serves nothing but its metadata.
  // Stops the server if it still runs, and destroys it. If anything does not stop in time, it still
  // uses the server: then the server and all that it refers to stay, and log lines say what hangs.
  struct NEREID_API End {
    void operator()(Server* server) const;
  };
  using Owner = std::unique_ptr<Server, End>;

  static absl::StatusOr<Owner> Create(const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // A step that may come before the end: from here on the server and its models say that they are
  // not ready, and go on serving, so that balancers send their clients elsewhere before any request
  // is refused. Has no effect once the end has begun.
  void BeginLameDuck() { lame_duck_.store(true); }
  // The first step of a graceful end: from here on the server is not ready, and InferForClient
  // refuses all requests except those of live sequences. Waits until no request and no sequence is
  // in flight, or until `deadline`, and logs what it waits for. Then the frontends close their
  // ports, and Stop follows.
  void Drain(TimePoint deadline);
  // How long Stop may take after the exit time-out: to give up a poll that hangs, and to unload
  // idle models.
  static constexpr Duration kStopGrace = std::chrono::seconds(6);
  // Refuses new requests, lets those in flight finish, unloads the models. INTERNAL "Exit timeout
  // expired. Exiting immediately." if that takes longer than the exit time-out, after log lines
  // that say what hangs. May be called again.
  absl::Status Stop();
  // Like Stop, but requests in flight may finish until `deadline`.
  absl::Status StopBy(TimePoint deadline);
  // What a stopping server still waits for: one sentence per model.
  std::vector<std::string> Unfinished() const;
  void SetExitTimeout(uint32_t seconds) { exit_timeout_secs_.store(seconds); }

  // ---- Health. UNAVAILABLE "Server exiting" while it stops.
  absl::StatusOr<bool> IsLive() const;
  absl::StatusOr<bool> IsReady(ReadinessFrom from = ReadinessFrom::kBackends) const;
  // Whether the version can serve now. Errors of FindModel.
  absl::StatusOr<bool> IsModelReady(absl::string_view name, int64_t version,
                                    ReadinessFrom from = ReadinessFrom::kBackends) const;

  // ---- Inference.
  // The version asked for, or the highest ready one for kLatestVersion. NOT_FOUND, UNAVAILABLE:
  // texts of docs/reference/models.md section 3. Takes no lock on the common path. In kOnDemand, a
  // model that is not loaded is from now on: UNAVAILABLE, with a time to try again.
  absl::StatusOr<std::shared_ptr<ServingModel>> FindModel(absl::string_view name,
                                                          int64_t version) const;
  // How long a request may wait for the model that kOnDemand loads for it; 0: not at all.
  Duration load_wait() const;
  // `error` is that of FindModel. If it says that the model is being loaded: calls `resume` once,
  // later and on another thread, when it is worth to look it up again, or at `until`. It must not
  // block. Otherwise returns false, and does not call it.
  bool AwaitModel(const absl::Status& error, TimePoint until, std::function<void()> resume) const;
  // The highest ready version of a model. Loads none.
  absl::StatusOr<std::shared_ptr<ServingModel>> FindLoadedModel(absl::string_view name) const;
  // Issues `request`. On OK the request belongs to the server until its release callback; on an
  // error the request stays with the caller and no callback runs. `trace`, if there is one, records
  // what happens; the server releases it in either case. Never blocks.
  absl::Status Infer(InferRequest* request, TracePtr trace = nullptr);
  // Like Infer, for a request that has come over the network. UNAVAILABLE while the server drains,
  // unless the request continues a live sequence. Executing models may still send their own
  // requests.
  absl::Status InferForClient(InferRequest* request) override;
  // The limit on bytes of requests and responses in flight.
  Budget* in_flight_bytes() { return &in_flight_bytes_; }
  // The limit on requests that clients of the frontends have open. The frontends take the units.
  Budget* in_flight_requests() { return &in_flight_requests_; }

  // ---- Reports.
  ServerMetadata Metadata() const;
  absl::StatusOr<ModelMetadata> GetModelMetadata(absl::string_view name, int64_t version) const;
  // The configuration as JSON (config_version 1).
  absl::StatusOr<std::string> ModelConfigJson(absl::string_view name, int64_t version) const;
  // Empty `name`: every ready model. INVALID_ARGUMENT for an unknown model or version.
  absl::StatusOr<std::vector<ModelStatisticsReport>> Statistics(absl::string_view name,
                                                                int64_t version) const;
  absl::StatusOr<std::vector<IndexEntry>> RepositoryIndex(bool ready_only) const;
  // Prometheus text; UNAVAILABLE when metrics are off.
  absl::StatusOr<std::string> MetricsText() const;
  // The GPUs that the server uses, which outlive its models. REQUIRES: it has started.
  const Devices& devices() const;
  // Numbers that frontends add to the metrics text.
  Gauges* gauges() { return &gauges_; }

  // ---- Reports for /v2/nereid, as JSON (recordings.h).
  // All models with state and reason; those that serve also with queue and counts.
  absl::StatusOr<std::string> ModelsJson() const;
  // The last requests and executions of a version. Errors of FindModel.
  absl::StatusOr<std::string> RecordedTimeline(absl::string_view name, int64_t version,
                                               const RecordWindow& window) const;
  // What is remembered of requests with this id.
  absl::StatusOr<std::string> RecordedRequests(absl::string_view id) const;
  // The records of a version, or of all models for an empty name, as trace events. Errors of
  // FindModel.
  absl::StatusOr<std::string> RecordedTrace(absl::string_view name, int64_t version,
                                            const RecordWindow& window) const;
  // What the server and its models do at present (live_json.h): made anew at most every 250 ms,
  // however many ask. Of one model if `name` is not empty; NOT_FOUND if there is none.
  absl::StatusOr<std::string> LiveJson(absl::string_view name) const;
  // From now on, notes each second what the models have counted (live_history.h). Called once.
  void KeepHistory();
  // What KeepHistory has noted.
  absl::StatusOr<std::string> HistoryJson() const;
  // The last lines of the log: without `since` the newest, otherwise those after that number.
  absl::StatusOr<std::string> LogJson(std::optional<uint64_t> since, size_t limit) const;

  // ---- Model control (kExplicit and kOnDemand only; otherwise UNAVAILABLE). In kOnDemand, a model
  // that is loaded by name stays until it is unloaded by name.
  // Blocks until the model is loaded. The old version serves meanwhile.
  absl::Status LoadModel(absl::string_view name, const std::vector<LoadParameter>& parameters = {});
  // Closes admission and returns; requests in flight finish in the background. `with_members`: also
  // unloads the members that were loaded only for this ensemble.
  absl::Status UnloadModel(absl::string_view name, bool with_members = false);
  // As LoadModel and UnloadModel, but never block. The result is passed to `done`, on the calling
  // thread or another one, which must not block there. Requests for one model are carried out in
  // the order of these calls; equal ones that wait share a result. UNAVAILABLE if too many wait.
  // `client`: null for one that stays; CANCELLED if it leaves before anything has begun.
  using ControlDone = absl::AnyInvocable<void(absl::Status)>;
  void LoadModelAsync(std::string name, const std::vector<LoadParameter>& parameters,
                      std::shared_ptr<ControlClient> client, ControlDone done);
  void UnloadModelAsync(std::string name, bool with_members, std::shared_ptr<ControlClient> client,
                        ControlDone done);
  // Runs `job`, which may take minutes, on a thread of its own. False, and the job stays with the
  // caller, if there are too many such jobs or no thread. The end of the server waits for the job.
  [[nodiscard]] bool RunBeside(std::function<void()>* job);
  // Adds or removes a repository. UNIMPLEMENTED unless kExplicit.
  absl::Status RegisterRepository(absl::string_view path, const GivenNames& names);
  absl::Status UnregisterRepository(absl::string_view path);
  // Takes up the changes in the repositories; blocks until that is done. UNAVAILABLE unless kPoll.
  absl::Status PollRepository();

  const ServerOptions& options() const { return options_; }
  Clock* clock() const { return clock_; }

 private:
  struct Parts;
  enum class State {
    kStarting,
    kFailed,  // the start failed, but the server stays (options.exit_on_error)
    kReady,
    kExiting,
    kStopped
  };

  Server(const ServerOptions& options, Clock* clock);
  // REQUIRES: the server has stopped, or its start failed before there was anything to stop.
  ~Server();
  absl::Status Start();
  // Makes the file system, which starts the program for cloud storage when it is first needed.
  void SetUpCloud();
  // Loads the response cache, if one is configured.
  absl::Status LoadCache();
  // Looks which GPUs there are, and says so in the log.
  void FindDevices();
  DeviceSamples ReadDevices() const;
  // The UUID of the GPU on which all instances of a model are; empty: of none.
  std::string GpuOf(const CompiledModel& model) const;
  std::vector<LiveGpu> LiveGpus() const;
  // How many instances of models are on each GPU.
  std::map<int64_t, uint64_t> InstancesOnGpus() const;
  // Applies the options that concern all instances.
  absl::Status SetUpInstances(LoadContext* context);
  // Starts to poll, or to load models on demand.
  void StartPolling();
  // kOnDemand: what loads models on request, and the metrics about it.
  absl::Status SetUpDemand();
  void AddDemandGauges();
  // Loads these models by name, one after the other, so that each can be measured. Returns those
  // that failed.
  std::vector<std::string> LoadPinned(const std::set<std::string>& names);
  // How the index shows a model that is to be loaded by its next request; empty: not so.
  std::string OnDemandText(absl::string_view name) const;
  // What FindModel does.
  absl::StatusOr<std::shared_ptr<ManagedModel>> FindOrDemand(absl::string_view name,
                                                             int64_t version) const;
  // Whether a request for the model would have it loaded.
  bool IsOnDemand(absl::string_view name) const;
  // Stops polling, and loads on demand. False if a poll is still under way at `deadline`.
  bool EndPolling(TimePoint deadline);
  // Unloads all models. INTERNAL as for Stop, and also if not `polls_ended`.
  absl::Status EndModels(bool idle, bool polls_ended, TimePoint deadline);
  // UNAVAILABLE "Server not ready" unless the server has started and is not stopping.
  absl::Status CheckReady() const;
  absl::Status CheckReadyForControl() const;
  // The model version in which the request's sequence lives. Null if the request begins a sequence,
  // or belongs to none or to one that is not live.
  std::shared_ptr<ServingModel> HomeOfSequence(const InferRequest& request) const;
  // Whether the request continues a live sequence, in its model or in a member of an ensemble.
  bool ContinuesSequence(const InferRequest& request) const;
  // Enters the request's model, the successor of the model, or the version where the request's
  // sequence lives. A pass of no model if the one that it found was replaced meanwhile.
  absl::StatusOr<ModelPass> EnterModel(const InferRequest& request) const;
  // Enters `model`. A pass of no model if `model` is closed; UNAVAILABLE if it has as many requests
  // as it may have.
  absl::StatusOr<ModelPass> EnterVersion(std::shared_ptr<ServingModel> model,
                                         uint64_t open_of_client, bool join) const;
  std::vector<IndexEntry> ListModels(bool ready_only) const;
  // The versions of one model, or of all for an empty name, as live_json.h shows them.
  std::vector<LiveModel> LiveModels(absl::string_view name) const;
  LiveServer LiveNumbers(TimePoint now) const;
  absl::StatusOr<std::string> MakeLiveJson(absl::string_view name) const;
  // The versions that serve or drain.
  std::vector<std::shared_ptr<const ServingModel>> RecordingModels() const;
  // Writes the loaded backends, and all models with state and reason, to the log.
  void LogTables() const;
  std::string FailedModelsText(const std::vector<std::string>& names) const;

  const ServerOptions options_;
  const BackgroundLog log_;  // first: all others may log until their end
  Clock* const clock_;
  const TimePoint started_;
  Budget in_flight_bytes_;
  Budget in_flight_requests_;
  std::atomic<uint32_t> exit_timeout_secs_;
  std::atomic<State> state_{State::kStarting};
  std::atomic<bool> lame_duck_{false};
  std::atomic<bool> hangs_{false};  // did not stop in time
  Gauges gauges_;
  const std::unique_ptr<MachineUsage> machine_usage_;  // null when CPU metrics are off
  const std::unique_ptr<AnswerCache> live_;            // the latest answers of LiveJson
  const std::unique_ptr<Parts> parts_;
  ModelManager* models_ = nullptr;  // owned by parts_
};

}  // namespace nereid

#endif  // NEREID_SERVER_SERVER_H_
