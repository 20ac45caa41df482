// InferRequest: an inference request: data, and who gets it back. It is also what
// TRITONSERVER_InferenceRequest* and TRITONBACKEND_Request* point to.
//
// Ownership: its maker owns it, except between Issue (Server::Infer) and the release
// callback. In flight it travels as a RequestPtr, then is lent to a backend as a bare pointer
// until the backend releases it. Thread-compatible: one owner at a time; the marked members are
// thread-safe.
#ifndef NEREID_INFER_INFER_REQUEST_H_
#define NEREID_INFER_INFER_REQUEST_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/export.h"
#include "infer/infer_input.h"
#include "infer/request_lifecycle.h"
#include "infer/request_ptr.h"
#include "infer/response_stream.h"
#include "infer/scheduler_slot.h"
#include "infer/serving_model.h"
#include "model/correlation_id.h"
#include "model/parameter.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

inline constexpr uint32_t kRequestFlagSequenceStart = 1;
inline constexpr uint32_t kRequestFlagSequenceEnd = 2;
inline constexpr uint32_t kRequestReleaseAll = 1;
inline constexpr uint32_t kRequestReleaseReschedule = 2;

class InlineTurn;
class LentBatch;
class ReleaseWatcher;
class SequenceStates;
struct ComputeTimes;

// Who gets the request back. `fn` runs on any thread and must not block; after it the core never
// touches the request again.
struct ReleaseTarget {
  using Fn = void (*)(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  Fn fn = nullptr;
  void* userp = nullptr;
  void (*foreign_fn)() = nullptr;  // the C API keeps an application's callback here
};

class NEREID_API InferRequest {
 public:
  InferRequest(std::shared_ptr<ServingModel> model, int64_t requested_version)
      : model_(std::move(model)), requested_version_(requested_version) {}
  ~InferRequest();
  InferRequest(const InferRequest&) = delete;
  InferRequest& operator=(const InferRequest&) = delete;

  // ---- What the maker sets before Issue. Adding is INVALID_ARGUMENT for a duplicate name. A name
  // is compared with as many others as the model has tensors and one more, so that adding many
  // costs no more than their number: a request that holds more is refused by Issue anyway, which
  // also finds the duplicates that removing leaves.
  void set_id(absl::string_view id) { id_.assign(id.data(), id.size()); }
  void set_flags(uint32_t flags) { flags_ = flags; }
  void set_correlation_id(CorrelationId id) { correlation_id_ = std::move(id); }
  void set_priority(uint64_t priority) { asked_priority_ = priority; }
  void set_timeout_us(uint64_t timeout_us) { timeout_us_ = timeout_us; }
  absl::StatusOr<InferInput*> AddInput(std::string name, DataType type,
                                       absl::Span<const int64_t> shape);
  // The single input whose name, type and shape follow from the model and the byte count.
  absl::StatusOr<InferInput*> AddRawInput(std::string name);
  // Inputs that came beside those added and were only counted: the request has too many, and Issue
  // refuses it.
  void set_unkept_inputs(size_t count) { unkept_inputs_ = count; }
  absl::Status RemoveInput(absl::string_view name);
  void RemoveAllInputs();
  // Null when there is none. The pointer is valid until the next input is added or removed.
  InferInput* FindInput(absl::string_view name);
  absl::Status AddRequestedOutput(std::string name);
  void RemoveRequestedOutput(absl::string_view name);
  void RemoveAllRequestedOutputs();
  void AddParameter(Parameter parameter) { parameters_.push_back(std::move(parameter)); }
  void set_release_target(const ReleaseTarget& target) { release_ = target; }
  void set_response_target(const ResponseTarget& target) { target_ = target; }
  // Bytes of a limit that this request holds until it is released.
  void set_units(BudgetUnits units) { units_ = std::move(units); }
  // Told of the next flight; null: nobody is. Let go of when that ends.
  void set_trace(TracePtr trace) { trace_ = std::move(trace); }

  // ---- Read by anyone who has the request.
  const std::string& id() const { return id_; }
  uint32_t flags() const { return flags_; }
  const CorrelationId& correlation_id() const { return correlation_id_; }
  // Level of the model's queue; 0 where the model has no levels.
  uint64_t priority() const { return priority_; }
  // As its maker has set it, whatever levels the model has.
  uint64_t asked_priority() const { return asked_priority_; }
  uint64_t timeout_us() const { return timeout_us_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::shared_ptr<ServingModel>& model() const { return model_; }
  int64_t requested_version() const { return requested_version_; }
  absl::InlinedVector<InferInput, 2>& inputs() { return inputs_; }
  const absl::InlinedVector<InferInput, 2>& inputs() const { return inputs_; }
  const std::vector<std::string>& asked_outputs() const { return asked_outputs_; }
  const ResponseTarget& response_target() const { return target_; }
  const ReleaseTarget& release_target() const { return release_; }
  // Null: nobody wants to know.
  InferenceTrace* trace() const { return trace_.get(); }
  // "[request id: <id>] ", the prefix of errors about this request.
  std::string LogPrefix() const;

  // ---- What a backend sees: the inputs above, then those that the core added.
  size_t backend_input_count() const { return inputs_.size() + override_inputs_.size(); }
  // REQUIRES: index < backend_input_count().
  InferInput& backend_input(size_t index) {
    return index < inputs_.size() ? inputs_[index] : override_inputs_[index - inputs_.size()];
  }
  // Null when there is none; the added one where both have the name.
  InferInput* FindBackendInput(absl::string_view name);
  const InferInput* FindBackendInput(absl::string_view name) const {
    return const_cast<InferRequest*>(this)->FindBackendInput(name);
  }

  // ---- After Issue.
  // Batch dimension of the inputs; 0 for a model without batching.
  uint32_t batch_size() const { return batch_size_; }
  // max(1, batch_size): what it counts for in a batch.
  uint32_t units_in_batch() const { return batch_size_ == 0 ? 1 : batch_size_; }
  // Requested outputs, or all outputs of the model when none was asked for.
  size_t output_count() const;
  const std::string& output_name(size_t index) const;
  bool WantsOutput(absl::string_view name) const;
  const std::shared_ptr<ResponseStream>& stream() const { return stream_; }
  // Marks the request cancelled; if it is queued, its scheduler drops it. INTERNAL before Issue.
  // Thread-safe against the flight of the request, not against its destruction.
  absl::Status Cancel();
  absl::StatusOr<bool> IsCancelled() const;

  // ---- The core's own.
  RequestLifecycle& lifecycle() { return lifecycle_; }
  // Binds the request to a newer version of its model. REQUIRES: not in flight.
  void Rebind(std::shared_ptr<ServingModel> model) { model_ = std::move(model); }
  // Adds an input that only the backend sees, until the flight ends: a control tensor or a state.
  // Its shape is set. Replaces one that was added under the same name. Not a declared input's.
  void AddOverrideInput(InferInput input);
  void ClearOverrideInputs() { override_inputs_.clear(); }
  // Takes the request into flight: fresh stream, which holds `pass`, of the request's model;
  // priority resolved, start time noted.
  void BeginFlight(ModelPass pass, uint64_t now_ns);
  // Undoes BeginFlight for a request that never entered a queue; its maker keeps it.
  void AbortFlight();
  // The trace of a flight that was aborted, or never begun.
  TracePtr TakeTrace() { return std::move(trace_); }
  // Answers with an error and counts the failure; the request still has to be released.
  void RespondError(const absl::Status& error, FailureReason reason);
  // The backend, which gives the request back, shall be given it again: pending once more, it goes
  // to the release watcher. REQUIRES: there is one.
  void Reschedule();
  // Ends the flight: tells the release watcher, drops the stream, returns the units, calls the
  // release callback.
  void Release(uint32_t flags);

  // ---- What the issuer says about a flight. Of whoever has the request.
  // The turn of the I/O thread that issues the request, which may execute it; null: none may.
  // Looked at until the scheduler has the request.
  InlineTurn* inline_turn() const { return inline_turn_; }
  void set_inline_turn(InlineTurn* turn) { inline_turn_ = turn; }
  InlineTurn* TakeInlineTurn() { return std::exchange(inline_turn_, nullptr); }
  // Requests that its client, a connection or a stream, has open besides: who has many is refused
  // first. Set before the request is issued.
  uint64_t open_of_client() const { return open_of_client_; }
  void set_open_of_client(uint64_t count) { open_of_client_ = count; }
  // Part of a request that was let in: schedulers take it although their admission is closed. The
  // times of its execution are added to `times`, too, which outlives the flight; null: nowhere.
  void MakePart(ComputeTimes* times) {
    passes_closed_admission_ = true;
    compute_times_ = times;
  }
  bool passes_closed_admission() const { return passes_closed_admission_; }
  ComputeTimes* compute_times() const { return compute_times_; }
  // Nobody's request: it fills a place of a batch, or tells the model that a sequence has ended.
  // Nothing about it is counted. Constant once it is issued.
  bool is_filler() const { return is_filler_; }
  void set_is_filler() { is_filler_ = true; }

  // ---- While schedulers have it. Of the one that has it.
  // Nanoseconds of the steady clock; BeginFlight sets the first, and the second to 0: not queued.
  uint64_t request_start_ns() const { return request_start_ns_; }
  uint64_t queue_start_ns() const { return queue_start_ns_; }
  void set_queue_start_ns(uint64_t now_ns) { queue_start_ns_ = now_ns; }
  // What that scheduler keeps about it, of type T; null if there is no such slot. These three need
  // the mutex of the scheduler.
  template <class T>
  T* FindSlot() const {
    for (SchedulerSlot* slot = slot_; slot != nullptr; slot = slot->below_) {
      if (T* const found = slot->As<T>()) return found;
    }
    return nullptr;
  }
  // Over those that there are. One that several requests share has to be the first.
  void PutSlot(SchedulerSlot* slot) {
    slot->below_ = slot_;
    slot_ = slot;
  }
  // REQUIRES: `slot` was put in last of those that are there.
  void TakeSlot(SchedulerSlot* slot) {
    assert(slot_ == slot);
    slot_ = slot->below_;
  }
  // Told when a backend gives the request back, and forgotten then; null: nobody wants to know.
  ReleaseWatcher* release_watcher() const { return release_watcher_; }
  void set_release_watcher(ReleaseWatcher* watcher) { release_watcher_ = watcher; }
  // The states of its sequence, from when it is handed to an instance to its release; null where
  // the model has none. Not owned.
  SequenceStates* sequence_states() const { return sequence_states_; }
  void set_sequence_states(SequenceStates* states) { sequence_states_ = states; }

  // ---- While a backend has it. Of the instance that lends it.
  // From now on it is request `slot` of `batch`, until its release.
  void Lend(std::shared_ptr<LentBatch> batch, uint32_t slot) {
    lent_batch_ = std::move(batch);
    lent_slot_ = slot;
  }
  const std::shared_ptr<LentBatch>& lent_batch() const { return lent_batch_; }
  uint32_t lent_slot() const { return lent_slot_; }

 private:
  friend class RequestValidator;
  friend class SequenceStates;  // own_states_

  absl::Status RepeatedName(absl::string_view kind, absl::string_view name) const;

  std::shared_ptr<ServingModel> model_;  // may be rebound while idle
  const int64_t requested_version_;

  // Set by the maker.
  std::string id_;
  uint32_t flags_ = 0;
  CorrelationId correlation_id_;
  uint64_t asked_priority_ = 0;
  uint64_t timeout_us_ = 0;
  absl::InlinedVector<InferInput, 2> inputs_;
  std::vector<InferInput> override_inputs_;  // the core's, not the maker's
  size_t unkept_inputs_ = 0;
  bool raw_input_ = false;
  std::vector<std::string> asked_outputs_;
  // A name was added that has not been compared with all of its kind.
  bool inputs_may_repeat_ = false;
  bool outputs_may_repeat_ = false;
  std::vector<Parameter> parameters_;
  ReleaseTarget release_;
  ResponseTarget target_;
  BudgetUnits units_;
  TracePtr trace_;
  InlineTurn* inline_turn_ = nullptr;
  uint64_t open_of_client_ = 0;
  bool passes_closed_admission_ = false;
  bool is_filler_ = false;
  ComputeTimes* compute_times_ = nullptr;

  // Set by Issue.
  uint32_t batch_size_ = 0;
  uint64_t priority_ = 0;
  std::shared_ptr<ResponseStream> stream_;       // while in flight
  std::weak_ptr<ResponseStream> stream_handle_;  // of the last flight; for Cancel
  bool issued_ = false;
  RequestLifecycle lifecycle_;
  uint64_t request_start_ns_ = 0;
  uint64_t queue_start_ns_ = 0;

  SchedulerSlot* slot_ = nullptr;  // put in last; guarded by the mutex of the scheduler that has it
  ReleaseWatcher* release_watcher_ = nullptr;
  SequenceStates* sequence_states_ = nullptr;
  std::shared_ptr<SequenceStates> own_states_;  // of no sequence; kept for the next flight
  std::shared_ptr<LentBatch> lent_batch_;
  uint32_t lent_slot_ = 0;
};

}  // namespace nereid

#endif  // NEREID_INFER_INFER_REQUEST_H_
