// SPDX-License-Identifier: Apache-2.0
// ResponseStream: the way back of one issued request: from any thread of a backend to the
// frontend that asked. Thread-safe.
//
// The stream outlives the request: response factories and unsent responses hold references. If the
// last reference is released without a final response, the client gets one INTERNAL error, so that
// nobody waits forever. Frontends keep only a weak reference, to cancel.
#ifndef NEREID_INFER_RESPONSE_STREAM_H_
#define NEREID_INFER_RESPONSE_STREAM_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/export.h"
#include "base/log.h"
#include "base/mutex.h"
#include "infer/response_credit.h"
#include "infer/serving_model.h"
#include "memory/output_allocator.h"
#include "observe/record/flight_record.h"
#include "observe/stats/model_statistics.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

class InferResponse;
class ServingModel;

inline constexpr uint32_t kResponseCompleteFinal = 1;

// Where responses go. `fn` runs on any thread, owns `response` (null when only flags are sent), is
// not called again after FINAL, and must not block.
struct ResponseTarget {
  using Fn = void (*)(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  Fn fn = nullptr;
  void* userp = nullptr;
  void (*foreign_fn)() = nullptr;  // the C API keeps an application's callback here
  const OutputAllocator* allocator = nullptr;
  void* allocator_userp = nullptr;
  // What allocator_userp points to, unless somebody else keeps that. A backend may fill a response
  // that it made before the final one was sent, so only the responses know how long it is used.
  std::shared_ptr<const void> kept = nullptr;
  // Whether further responses are wanted; null: always, as many as come.
  std::shared_ptr<ResponseCredit> credit = nullptr;
  // The client, as the one who holds units of the byte limit; null if nobody is known.
  std::shared_ptr<Holder> holder = nullptr;
  // Whether outputs go to memory of GPUs that the client has named: whoever sends a response
  // copies.
  bool on_gpu = false;
};

// Sees the responses of one stream before they are delivered, on the threads that send them. Owned
// by the stream, which outlives the calls.
class ResponseTap {
 public:
  virtual ~ResponseTap() = default;
  // `response` may be null, and is delivered when this returns. Must not block. Called by several
  // threads at a time if the model sends from several.
  virtual void OnResponse(const InferResponse* response, uint32_t flags) = 0;
};

// Stands between one stream and its receiver: takes each response, and delivers it now or later.
// Owned by the stream. Called by the threads that send.
class ResponseRelay {
 public:
  // Nothing is relayed any more. If no final response was relayed, the request was not accepted
  // after all.
  virtual ~ResponseRelay() = default;
  // Has the arguments of ResponseTarget::fn, and delivers the response to `target`. Must not block.
  // A final response must be relayed even if memory is exhausted; for another response Relay may
  // throw std::bad_alloc.
  virtual void Relay(std::unique_ptr<InferResponse> response, uint32_t flags,
                     const ResponseTarget& target) = 0;
};

class NEREID_API ResponseStream : public std::enable_shared_from_this<ResponseStream> {
 public:
  // Holds `pass` until destroyed. `trace`, which may be null, is held as long, and also by the
  // responses; it records the tensors that are delivered.
  ResponseStream(ModelPass pass, std::string request_id, const ResponseTarget& target,
                 TracePtr trace = nullptr);
  ~ResponseStream();

  // The time to the first response is recorded in the model's statistics. `start_ns`: start of the
  // request, not 0. REQUIRES, here and below: nothing was sent, and nobody else who may send has
  // the stream yet.
  void CountFirstResponse(uint64_t start_ns) {
    first_response_from_.store(start_ns, std::memory_order_relaxed);
  }
  void SetTap(std::unique_ptr<ResponseTap> tap) { tap_ = std::move(tap); }

  // ---- The record of the flight (observe/record), written when the stream ends.
  // Begins the record; without this call there is none. REQUIRES: as CountFirstResponse.
  void BeginRecord(uint64_t start_ns) {
    flight_.emplace();
    flight_->request_start = start_ns;
    flight_->id.Set(request_id_);
  }
  // What the request's owner of the moment notes in the record, up to `compute_end`; null: there is
  // none.
  FlightRecord* flight() { return flight_.has_value() ? &*flight_ : nullptr; }
  // There shall be no record after all.
  void DropRecord() { flight_.reset(); }
  // How the request ends. The first note counts. Does nothing once a final response was sent.
  void NoteOutcome(FlightOutcome outcome);
  // The request was refused at `now_ns`, and Abandon follows.
  void NoteRefusal(uint64_t now_ns);

  // Records an execution of the request in its model's statistics: now or, if the model is
  // decoupled, when the final response is sent, because the request lasts until then. May throw
  // std::bad_alloc.
  void Record(const ExecutionReport& report) ABSL_LOCKS_EXCLUDED(mu_);

  // A response to be filled and sent. Tells the allocator that a new response starts.
  std::unique_ptr<InferResponse> NewResponse();

  // Delivers `response` (may be null) with `flags`. Never waits for the client. After the final
  // response was sent: INTERNAL, and nothing is delivered; the same with OK if NoteNoRoom has ended
  // the stream. If a final response is sent while another thread still delivers a non-final one,
  // that thread delivers the final one afterwards: the receiver sees nothing after FINAL.
  absl::Status Send(std::unique_ptr<InferResponse> response, uint32_t flags)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Delivers an error as the final response, or only the final flag if memory is exhausted. Does
  // nothing if a final response was sent already.
  void SendFinalError(const absl::Status& error);

  // Responses go through `relay` from now on. REQUIRES: nothing was sent, and nobody else who may
  // send has the stream yet.
  void SetRelay(std::unique_ptr<ResponseRelay> relay) { relay_ = std::move(relay); }
  // REQUIRES: nobody may be setting one.
  bool has_relay() const { return relay_ != nullptr; }

  // ---- Credit: whether more responses are wanted now. Send does not depend on it.
  bool HasCredit() const { return target_.credit == nullptr || target_.credit->has_credit(); }
  // Calls `waiter` once, as ResponseCredit says: when there is credit, or the request has been
  // cancelled or has ended, or its model is being unloaded. Now if that is so.
  void OnCredit(ResponseCredit::Waiter waiter);
  // Null: there is credit at all times.
  const std::shared_ptr<ResponseCredit>& credit() const { return target_.credit; }
  const std::shared_ptr<Holder>& holder() const { return target_.holder; }
  // Bytes of answers that wait for the client.
  uint64_t held() const { return target_.credit == nullptr ? 0 : target_.credit->held(); }
  // No memory was left for an output. If the sender goes on without credit, the stream ends with
  // RESOURCE_EXHAUSTED and counts as cancelled, and what is sent later is dropped.
  void NoteNoRoom();

  // How much time the calling thread has spent in the receivers of responses so far, so that
  // measurements of a model can leave out the sending of its answers.
  static Duration TimeInReceivers();

  // The request was not accepted after all: nothing was delivered, and nothing will be.
  void Abandon() { sends_.fetch_or(kFinalSent, std::memory_order_release); }

  void Cancel();
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }
  bool final_sent() const { return (sends_.load(std::memory_order_acquire) & kFinalSent) != 0; }
  // For lines of the log about the request; empty for lack of memory.
  LogAbout About() const;
  const ModelPass& pass() const { return pass_; }
  const std::shared_ptr<ServingModel>& model() const { return pass_.model(); }
  // Running index of reported response statistics.
  uint64_t NextStatisticsIndex() { return statistics_index_.fetch_add(1); }

 private:
  // The bit of sends_ that says that the final response was sent. The others
  // count the deliveries under way that are not final.
  static constexpr uint32_t kFinalSent = uint32_t{1} << 31;

  struct HeldResponse {
    std::unique_ptr<InferResponse> response;
    uint32_t flags;
  };

  // Notes that a response is being sent. False: a final one was sent before. If it has to wait for
  // other deliveries, `*held` becomes true and `*response` is taken.
  bool BeginDelivery(std::unique_ptr<InferResponse>* response, uint32_t flags, bool* held)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The response for a request that was never answered; null if memory is exhausted.
  std::unique_ptr<InferResponse> ErrorOfBackend() noexcept;
  // Shows a response that is about to be delivered to trace and tap.
  void LookAt(const InferResponse* response, uint32_t flags) noexcept;
  void Deliver(std::unique_ptr<InferResponse> response, uint32_t flags);
  // Records the time until `now` unless it was recorded before.
  void RecordFirstResponse(TimePoint now);
  void SetOutcome(FlightOutcome outcome);
  // Puts the record into the recorder of the model.
  void WriteRecord();
  // The final response is sent at `now`: records what was reported before.
  void RecordReport(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  // One delivery of a response that was not final has ended.
  void EndDelivery() ABSL_LOCKS_EXCLUDED(mu_);

  const ModelPass pass_;
  const std::string request_id_;
  const ResponseTarget target_;
  TracePtr trace_;                        // mostly null; constant until destroyed
  std::unique_ptr<ResponseTap> tap_;      // mostly null; constant once the stream is shared
  std::unique_ptr<ResponseRelay> relay_;  // mostly null; constant once the stream is shared
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> unread_{false};  // NoteNoRoom has ended the stream
  // kFinalSent and deliveries under way. From 0 to kFinalSent, which is all
  // that most requests need, without mu_; all other changes under it.
  std::atomic<uint32_t> sends_{0};
  std::atomic<uint64_t> statistics_index_{0};
  // Start of the request until its first response was delivered; 0: it is not counted, or was.
  std::atomic<uint64_t> first_response_from_{0};
  // None: not recorded. Each member has one writer: the owner of the request or, from `answered`
  // on, the thread that delivers the final response.
  std::optional<FlightRecord> flight_;
  std::atomic<FlightOutcome> outcome_{FlightOutcome::kOk};
  Mutex mu_;
  std::optional<HeldResponse> held_final_ ABSL_GUARDED_BY(mu_);  // waits for those deliveries
  // Of a decoupled model's request without a final response; null: none yet.
  std::unique_ptr<ExecutionReport> report_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_INFER_RESPONSE_STREAM_H_
