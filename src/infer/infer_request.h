// SPDX-License-Identifier: Apache-2.0
// InferRequest: an inference request on its way: its content (request_content.h), and what the core
// knows of it: who has it, its stream of responses, its times, and what its scheduler keeps about
// it. It is also what TRITONSERVER_InferenceRequest* and TRITONBACKEND_Request* point to.
//
// Ownership: its maker owns it, except between Issue (Server::Infer) and the release callback. A
// maker that deletes it meanwhile leaves it to the core. In flight it travels as a RequestPtr, then
// is lent to a backend as a bare pointer until the backend releases it. Thread-compatible: one
// owner at a time; the marked members are thread-safe.
#ifndef NEREID_INFER_INFER_REQUEST_H_
#define NEREID_INFER_INFER_REQUEST_H_

#include <absl/container/fixed_array.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "base/budget.h"
#include "base/export.h"
#include "base/log.h"
#include "infer/request_content.h"
#include "infer/request_ptr.h"
#include "infer/response_stream.h"
#include "infer/serving_model.h"
#include "observe/stats/model_statistics.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

// The states of a request and the steps allowed between them. Thread-compatible.
//
//   INITIALIZED -> PENDING | RELEASED
//   PENDING     -> EXECUTING | RELEASED | FAILED_ENQUEUE
//   EXECUTING   -> RELEASED | PENDING (rescheduled)
//   RELEASED, FAILED_ENQUEUE -> INITIALIZED (issued anew)
enum class RequestState { kInitialized, kPending, kExecuting, kReleased, kFailedEnqueue };

class NEREID_API RequestLifecycle {
 public:
  RequestState state() const { return state_; }
  // INTERNAL "<prefix>Invalid request state transition from A to B" for a step not drawn above;
  // staying in a state is allowed.
  absl::Status MoveTo(RequestState next, absl::string_view log_prefix);

 private:
  RequestState state_ = RequestState::kInitialized;
};

// The sums of the execution times of a request's parts, in nanoseconds. Thread-safe.
// Owned by the maker of the parts.
struct ComputeTimes {
  std::atomic<uint64_t> queue{0};
  std::atomic<uint64_t> input{0};
  std::atomic<uint64_t> infer{0};
  std::atomic<uint64_t> output{0};

  void Add(const SuccessTimes& times) {
    AddBetween(times.queue_start, times.exec_start, &queue);
    AddBetween(times.exec_start, times.compute_start, &input);
    AddBetween(times.compute_start, times.compute_end, &infer);
    AddBetween(times.compute_end, times.exec_end, &output);
  }

 private:
  // Backends may report wrong times: a negative duration counts as zero.
  static void AddBetween(uint64_t start, uint64_t end, std::atomic<uint64_t>* sum) {
    if (end > start) sum->fetch_add(end - start, std::memory_order_relaxed);
  }
};

// Which requests of one execution a backend has given back. Thread-safe.
//
// A backend may release a request from any thread, at any time, and the request's owner may free
// the request at once. If Execute returns an error, the server has to answer exactly the requests
// that are not yet released. The request itself cannot say whether it is released, so a LentBatch,
// which the instance and the requests share, keeps that fact.
class LentBatch {
 public:
  // `lender` is released when the last request is back.
  explicit LentBatch(size_t size, std::shared_ptr<const void> lender = nullptr)
      : lender_(std::move(lender)), taken_(size) {}

  // Claims request `slot`, for the backend that releases it or for the server that takes it back.
  // True for the first caller only.
  bool Claim(uint32_t slot) { return !taken_[slot].exchange(true, std::memory_order_acq_rel); }

 private:
  const std::shared_ptr<const void> lender_;
  absl::FixedArray<std::atomic<bool>, 64> taken_;  // small batches need no further memory
};

inline constexpr uint32_t kRequestReleaseAll = 1;
inline constexpr uint32_t kRequestReleaseReschedule = 2;

class EnsembleRun;
class InlineTurn;
class SequenceStates;
struct LiveSequence;
struct QueueEntry;

class NEREID_API InferRequest final : public RequestContent {
 public:
  InferRequest(std::shared_ptr<ServingModel> model, int64_t requested_version)
      : RequestContent(std::move(model), requested_version) {}
  ~InferRequest();

  // ---- What the issuer says about a flight, besides the content. Used by the current owner.
  // Bytes of a limit that this request holds until it is released.
  void set_units(BudgetUnits units) { units_ = std::move(units); }
  // The trace of the next flight; null: none. Released when the flight ends.
  void set_trace(TracePtr trace) { trace_ = std::move(trace); }
  // Null: the request is not traced.
  InferenceTrace* trace() const { return trace_.get(); }
  // The turn of the I/O thread that issues the request, which may execute it; null: none may.
  // Only read until the scheduler has the request.
  InlineTurn* inline_turn() const { return inline_turn_; }
  void set_inline_turn(InlineTurn* turn) { inline_turn_ = turn; }
  InlineTurn* TakeInlineTurn() { return std::exchange(inline_turn_, nullptr); }
  // How many other requests the same client (a connection or a stream) has open: clients with many
  // open requests are refused first. Set before the request is issued.
  uint64_t open_of_client() const { return open_of_client_; }
  void set_open_of_client(uint64_t count) { open_of_client_ = count; }
  // Makes this request a part of another one that was admitted: schedulers accept the part although
  // their admission is closed. Its execution times are also added to `times`, which outlives the
  // flight; null: not added.
  void MakePart(ComputeTimes* times) {
    passes_closed_admission_ = true;
    compute_times_ = times;
  }
  bool passes_closed_admission() const { return passes_closed_admission_; }
  // Makes this request step `step` of the ensemble's request with this number in the records
  // (FlightRecorder::NextEnsemble).
  void set_step_of(uint64_t ensemble, uint16_t step) {
    ensemble_ = ensemble;
    step_ = step;
  }
  ComputeTimes* compute_times() const { return compute_times_; }
  // Whether the request comes from no client: it fills a gap in a batch, or tells the model that
  // a sequence has ended. Nothing about such requests is counted. Constant once issued.
  bool is_synthetic() const { return is_synthetic_; }
  void set_is_synthetic() { is_synthetic_ = true; }

  // ---- A flight, for every holder of the request.
  // Level of the model's queue; 0 where the model has no levels.
  uint64_t priority() const { return priority_; }
  const std::shared_ptr<ResponseStream>& stream() const { return stream_; }
  // Whether the core has the request: from the start of Issue until its release callback, or until
  // Issue fails. Any thread.
  bool in_flight() const { return custody_.load(std::memory_order_acquire) != Custody::kMaker; }
  // Deletes `request`, which was made by new and belongs to its maker. One in flight is deleted
  // when its release callback has returned. INVALID_ARGUMENT if that was asked before. Any thread,
  // but not while Issue begins.
  static absl::Status Delete(InferRequest* request);
  // Marks the request cancelled; if it is queued, its scheduler drops it. INTERNAL before Issue.
  // May be called while the request is in flight, from any thread, but not during its destruction.
  absl::Status Cancel();
  absl::StatusOr<bool> IsCancelled() const;
  // For lines of the log about this request; empty for lack of memory.
  LogAbout About() const;

  // ---- For the core only.
  RequestLifecycle& lifecycle() { return lifecycle_; }
  // Binds the request to a newer version of its model. REQUIRES: not in flight.
  void Rebind(std::shared_ptr<ServingModel> model) { set_model(std::move(model)); }
  // Begins a flight: makes a new stream, resolves the priority and notes the start time. The stream
  // holds `pass`, which is a pass of the request's model.
  void BeginFlight(ModelPass pass, uint64_t now_ns);
  // Undoes BeginFlight for a request that never entered a queue; its maker keeps it.
  void AbortFlight();
  // The trace of a flight that was aborted, or never begun.
  TracePtr TakeTrace() { return std::move(trace_); }
  // Answers with an error and counts the failure; the request still has to be released.
  void RespondError(const absl::Status& error, FailureReason reason);
  // The backend gives the request back to get it again later: the request becomes pending once more
  // and goes to the release watcher. REQUIRES: there is a release watcher.
  void Reschedule();
  // Ends the flight: tells the release watcher, drops the stream, returns the units, calls the
  // release callback. Then deletes the request if its maker has called Delete.
  void Release(uint32_t flags);

  // ---- While a scheduler has the request. Used by that scheduler.
  // Nanoseconds of the steady clock; BeginFlight sets the first, and the second to 0: not queued.
  uint64_t request_start_ns() const { return request_start_ns_; }
  uint64_t queue_start_ns() const { return queue_start_ns_; }
  void set_queue_start_ns(uint64_t now_ns) { queue_start_ns_ = now_ns; }
  // What the scheduler that has the request keeps about it, as a T: the queue's entry, the
  // sequence, or the ensemble's run. Null if there is none. Not owned; from PutSlot to TakeSlot.
  // These three need the mutex of the scheduler.
  template <class T>
  T* FindSlot() const {
    return std::get<T*>(slots_);
  }
  template <class T>
  void PutSlot(T* slot) {
    std::get<T*>(slots_) = slot;
  }
  // REQUIRES: `slot` was put in.
  template <class T>
  void TakeSlot(T* slot) {
    assert(std::get<T*>(slots_) == slot);
    std::get<T*>(slots_) = nullptr;
  }
  // Is told once when a backend gives the request back; null: no watcher.
  ReleaseWatcher* release_watcher() const { return release_watcher_; }
  void set_release_watcher(ReleaseWatcher* watcher) { release_watcher_ = watcher; }
  // The states of the request's sequence, from the hand-over to an instance until the release; null
  // if the model has no states. Not owned.
  SequenceStates* sequence_states() const { return sequence_states_; }
  void set_sequence_states(SequenceStates* states) { sequence_states_ = states; }

  // ---- While a backend has the request. Used by the instance that lends it.
  // Makes this request number `slot` of `batch`, until its release.
  void Lend(std::shared_ptr<LentBatch> batch, uint32_t slot) {
    lent_batch_ = std::move(batch);
    lent_slot_ = slot;
  }
  const std::shared_ptr<LentBatch>& lent_batch() const { return lent_batch_; }
  uint32_t lent_slot() const { return lent_slot_; }

 private:
  // Who has the request. In flight with kCoreAlone nobody else wants it any more.
  enum class Custody : uint8_t { kMaker, kCore, kCoreAlone };

  friend class SequenceStates;  // own_states_

  // Completes the record of the flight, if there is one.
  void CompleteRecord();

  BudgetUnits units_;
  TracePtr trace_;
  InlineTurn* inline_turn_ = nullptr;
  uint64_t open_of_client_ = 0;
  bool passes_closed_admission_ = false;
  bool is_synthetic_ = false;
  ComputeTimes* compute_times_ = nullptr;
  uint64_t ensemble_ = 0;  // 0: a step of none
  uint16_t step_ = 0;

  // Set by Issue.
  uint64_t priority_ = 0;
  std::shared_ptr<ResponseStream> stream_;       // while in flight
  std::weak_ptr<ResponseStream> stream_handle_;  // of the last flight; for Cancel
  bool issued_ = false;
  std::atomic<Custody> custody_{Custody::kMaker};
  RequestLifecycle lifecycle_;
  uint64_t request_start_ns_ = 0;
  uint64_t queue_start_ns_ = 0;

  std::tuple<QueueEntry*, LiveSequence*, EnsembleRun*> slots_;  // guarded by the scheduler's mutex
  ReleaseWatcher* release_watcher_ = nullptr;
  SequenceStates* sequence_states_ = nullptr;
  std::shared_ptr<SequenceStates> own_states_;  // belong to no sequence; kept for the next flight
  std::shared_ptr<LentBatch> lent_batch_;
  uint32_t lent_slot_ = 0;
};

// Checks the request and hands it to the scheduler of its model, which `pass` is of. On OK it
// belongs to the server until its release callback; on an error, or an exception, it stays with the
// caller, and no callback of it runs. `trace`: the trace of this flight, which stays with the
// caller on an error, too; null, or null in it: the request has its trace already, or none. Never
// blocks. REQUIRES: the request is INITIALIZED.
NEREID_API absl::Status IssueRequest(ModelPass pass, InferRequest* request, uint64_t now_ns,
                                     TracePtr* trace = nullptr);

}  // namespace nereid

#endif  // NEREID_INFER_INFER_REQUEST_H_
