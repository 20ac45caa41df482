// SPDX-License-Identifier: Apache-2.0
// ServingModel: one loaded version of a model, as requests see it. Thread-safe.
//
// Its parts are kept in two ways: shared_ptrs keep the object (name, configuration, statistics,
// labels), passes of its lifetime gate keep the backend's model and instances. Requests in flight
// hold both. A request that is idle in an application's hands holds the object only. ModelPass is
// such a pass.
#ifndef NEREID_INFER_SERVING_MODEL_H_
#define NEREID_INFER_SERVING_MODEL_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/export.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "config/compiled_model.h"
#include "device/devices.h"
#include "infer/request_ptr.h"
#include "model/correlation_id.h"
#include "observe/metrics/metric_sink.h"
#include "observe/metrics/metrics_config.h"
#include "observe/record/flight_recorder.h"
#include "observe/stats/model_statistics.h"

namespace nereid {

class InputRecorder;
class ResponseCredit;

// The class labels of each output, one for each line of its label file.
using OutputLabels = std::map<std::string, std::vector<std::string>>;

class NEREID_API ServingModel : public std::enable_shared_from_this<ServingModel> {
 public:
  virtual ~ServingModel() = default;

  const CompiledModel& config() const { return *config_; }
  ModelStatistics& statistics() { return *statistics_; }
  const ModelStatistics& statistics() const { return *statistics_; }
  // The last requests and executions.
  FlightRecorder& recorder() { return recorder_; }
  const FlightRecorder& recorder() const { return recorder_; }
  // Keeps inputs of requests; null: nothing does.
  InputRecorder* input_recorder() const { return input_recorder_; }
  Gate& lifetime() { return lifetime_; }
  // When the last request came, for those who unload what nobody uses; the start of the clock if
  // nobody has noted any.
  TimePoint last_used() const { return FromNanos(last_used_ns_.load(std::memory_order_relaxed)); }
  void NoteUse(TimePoint now) { last_used_ns_.store(ToNanos(now), std::memory_order_relaxed); }
  // The model or the server begins to end, which must not depend on how fast clients read: waives
  // all credits that senders wait for, now and later.
  void StopWaitingForClients() ABSL_LOCKS_EXCLUDED(waiting_mu_);
  // A sender waits for this credit of a request, until StopWaitingForClients at most.
  void AddWaiting(const std::shared_ptr<ResponseCredit>& credit) ABSL_LOCKS_EXCLUDED(waiting_mu_);
  Clock* clock() const { return clock_; }
  // Whether the backend accepts an input in several pieces; otherwise each input is one piece.
  bool reads_pieces() const { return reads_pieces_; }

  // The GPUs of the server, from and to whose memory tensors are copied.
  const Devices& devices() const { return *devices_; }

  // Label of class `index` of `output`; null if there is none. The text lives as long as the model.
  const char* Label(const std::string& output, size_t index) const;

  const OutputLabels& labels() const { return labels_; }
  // Differs if the files or the configuration of this model, or of a model that it uses, differ.
  // Empty if the server has no response cache.
  const std::string& fingerprint() const { return fingerprint_; }

  // Hands a prepared request to the model's scheduler, which owns it from then on; on an error
  // `*request` is untouched and stays with the caller. UNAVAILABLE: stopping, or queue full.
  // Never blocks.
  virtual absl::Status Enqueue(RequestPtr* request) = 0;
  // False after the model began to unload: no new top-level request is let in.
  virtual bool AdmissionOpen() const = 0;
  // Asks the backend whether the model can serve now; OK if the backend has no such check. Blocks
  // as the backend does.
  virtual absl::Status CheckReady() = 0;
  // The last known answer of CheckReady, which is renewed in the background. Calls no backend and
  // never waits.
  virtual absl::Status KnownReady() { return absl::OkStatus(); }
  // Whether a sequence with this id lives here, so that further requests may join it.
  virtual bool HasSequence(const CorrelationId& id) const { return false; }
  // For an ensemble: whether the sequence that `request` continues lives in one of its members.
  virtual bool MembersHaveSequence(const InferRequest& request) const { return false; }
  // The number of instances that can execute has changed: those that wait for work look again. Any
  // thread, without locks.
  virtual void OnAvailability() {}
  // What the metrics page shows of the model. An override calls this function first.
  virtual void DescribeMetrics(MetricSink* sink) const;
  // `request`, which the caller keeps alive, was cancelled: its scheduler drops it if it is queued.
  // Never blocks.
  virtual void OnCancel(InferRequest* request) = 0;

 protected:
  // `metrics`: what is recorded for the metrics page. `target`: how long a request should take at
  // most from the queue to the end of its execution; 0: there is no target. `recorded`: the
  // `events` of the recorder.
  ServingModel(std::shared_ptr<const CompiledModel> config, OutputLabels labels, Clock* clock,
               const MetricsConfig& metrics = {}, Duration target = Duration(0),
               size_t recorded = 0);

  // REQUIRES: called before the first request.
  void set_reads_pieces(bool reads_pieces) { reads_pieces_ = reads_pieces; }
  // `devices` outlive the model. REQUIRES: as before.
  void set_devices(const Devices* devices) { devices_ = devices; }
  // `recorder`, which may be null, outlives the model.
  void set_input_recorder(InputRecorder* recorder) { input_recorder_ = recorder; }
  void set_fingerprint(std::string fingerprint) { fingerprint_ = std::move(fingerprint); }

 private:
  const std::shared_ptr<const CompiledModel> config_;
  const std::unique_ptr<ModelStatistics> statistics_;
  FlightRecorder recorder_;
  const bool counter_latencies_;  // shown on the metrics page
  const OutputLabels labels_;
  std::string fingerprint_;  // constant once others see this
  Clock* const clock_;
  bool reads_pieces_ = false;
  const Devices* devices_ = Devices::None();
  InputRecorder* input_recorder_ = nullptr;
  std::atomic<uint64_t> last_used_ns_{0};
  Gate lifetime_;
  Mutex waiting_mu_;
  bool waits_for_clients_ ABSL_GUARDED_BY(waiting_mu_) = true;
  // By address. Some may be gone, until the map is cleaned up at `waiting_kept_` entries.
  std::map<const ResponseCredit*, std::weak_ptr<ResponseCredit>> waiting_
      ABSL_GUARDED_BY(waiting_mu_);
  size_t waiting_kept_ ABSL_GUARDED_BY(waiting_mu_) = 8;
};

// The right to use one version of a model. While a pass lives, the version's object is
// kept, and the backend's model and instances are not finalised. Move-only; thread-compatible.
class [[nodiscard]] ModelPass {
 public:
  ModelPass() = default;  // belongs to no model
  ModelPass(ModelPass&& other) noexcept = default;
  ModelPass& operator=(ModelPass&& other) noexcept {
    const ModelPass old(std::move(*this));  // destroyed as a whole, in the order of members below
    model_ = std::move(other.model_);
    pass_ = std::move(other.pass_);
    return *this;
  }

  // Enters a version that is not closed; otherwise returns a pass of no model.
  static ModelPass Enter(std::shared_ptr<ServingModel> model) {
    Gate::Pass pass = model->lifetime().Enter();
    return Made(std::move(model), std::move(pass));
  }
  // Like Enter, but also enters a closed version if anybody is still inside.
  static ModelPass Join(std::shared_ptr<ServingModel> model) {
    Gate::Pass pass = model->lifetime().Join();
    return Made(std::move(model), std::move(pass));
  }
  // Like Enter or Join, within a limit: see Gate::EnterFairly. `*entry` says how it went.
  static ModelPass EnterFairly(std::shared_ptr<ServingModel> model, uint64_t limit, uint64_t held,
                               bool join, Gate::Entry* entry) {
    Gate::Pass pass;
    *entry = model->lifetime().EnterFairly(limit, held, join, &pass);
    return Made(std::move(model), std::move(pass));
  }

  explicit operator bool() const { return model_ != nullptr; }
  // Null if the pass belongs to no model.
  const std::shared_ptr<ServingModel>& model() const { return model_; }
  // Another pass of the same version. REQUIRES: this pass belongs to a model.
  ModelPass Another() const { return Made(model_, pass_.Another()); }

 private:
  static ModelPass Made(std::shared_ptr<ServingModel> model, Gate::Pass pass) {
    ModelPass made;
    if (!pass) return made;
    made.model_ = std::move(model);
    made.pass_ = std::move(pass);
    return made;
  }

  std::shared_ptr<ServingModel> model_;
  Gate::Pass pass_;  // destroyed first: its end needs the model
};

// How often an attempt is repeated because the version found was being replaced. Each repetition
// means that another swap fell in the moment between look-up and entry.
inline constexpr int kMostSwaps = 16;

// Calls `attempt` until it returns a value. `attempt` returns none if the version that it has
// looked up was closed meanwhile: by now there is another version, or none. Returns none if that
// happens too often.
template <typename Attempt>
auto RetryOverSwaps(const Attempt& attempt) -> decltype(attempt()) {
  for (int swaps = 0; swaps < kMostSwaps; ++swaps) {
    if (auto result = attempt(); result.has_value()) return result;
  }
  return std::nullopt;
}

}  // namespace nereid

#endif  // NEREID_INFER_SERVING_MODEL_H_
