// SPDX-License-Identifier: Apache-2.0
// TracedRequest: collects what happens to one request that was chosen to be traced, in the frontend
// and in the core. When the last of those who tell it something has let it go, the trace is
// finished and goes to the collector.
//
// Thread-safe. Shared by the frontend's flight, by what keeps the answer until it is sent, and by
// the traces of the core.
#ifndef NEREID_FRONTENDS_TRACING_TRACED_REQUEST_H_
#define NEREID_FRONTENDS_TRACING_TRACED_REQUEST_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "frontends/tracing/finished_trace.h"
#include "frontends/tracing/trace_collector.h"
#include "infer/infer_request.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

// Activities of frontends.
inline constexpr char kHttpReceiveStart[] = "HTTP_RECV_START";
inline constexpr char kHttpReceiveEnd[] = "HTTP_RECV_END";
inline constexpr char kHttpSendStart[] = "HTTP_SEND_START";
inline constexpr char kHttpSendEnd[] = "HTTP_SEND_END";
inline constexpr char kGrpcReceiveStart[] = "GRPC_WAITREAD_START";
inline constexpr char kGrpcReceiveEnd[] = "GRPC_WAITREAD_END";
inline constexpr char kGrpcSendStart[] = "GRPC_SEND_START";
inline constexpr char kGrpcSendEnd[] = "GRPC_SEND_END";
inline constexpr char kResponseComplete[] = "INFER_RESPONSE_COMPLETE";

class TracedRequest final : public TraceReceiver,
                            public std::enable_shared_from_this<TracedRequest> {
 public:
  // More events of one request are not kept.
  static constexpr size_t kMostEvents = 4096;

  // `parent`: of the caller's span. `with_spans`: models are told which spans they belong to, in
  // the contexts of their traces.
  TracedRequest(std::shared_ptr<const TraceSampler> sampler, std::optional<TraceParent> parent,
                bool with_spans, std::shared_ptr<TraceCollector> collector);
  ~TracedRequest() override;

  // The trace for the core. REQUIRES: called once, before anything is noted.
  TracePtr Begin();

  // What the log calls the trace, as InferenceTrace::LogId.
  std::string LogId() ABSL_LOCKS_EXCLUDED(mu_);

  // An activity of the frontend, now or at `time_ns` of the steady clock (0: it was not seen).
  void Note(const char* activity);
  void NoteAt(const char* activity, uint64_t time_ns) ABSL_LOCKS_EXCLUDED(mu_);
  // The client is told of this error; a client's own mistake is not noted.
  void NoteError(const absl::Status& error);

  // TraceReceiver
  void OnActivity(InferenceTrace* trace, TraceActivity activity, uint64_t time_ns) override;
  void OnCustom(InferenceTrace* trace, absl::string_view name, uint64_t time_ns) override;
  void OnTensor(InferenceTrace* trace, TraceActivity activity, const TraceTensor& tensor) override;
  void OnBatch(InferenceTrace* trace, const TraceBatch& batch) override;
  void OnError(InferenceTrace* trace, absl::string_view message) override;
  void OnRelease(std::unique_ptr<InferenceTrace> /*trace*/) override {}

 private:
  void AddError(InferenceTrace* trace, uint64_t id, absl::string_view message);
  // Adds the event, and before it the names of `trace` if they are new; null: an event of the
  // frontend. Drops it for lack of memory.
  void Add(InferenceTrace* trace, TracedEvent event, size_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the context that the trace gets; empty: none.
  std::string AddNames(const InferenceTrace& trace) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What a model is told about its span: JSON with `traceparent` and `tracestate`.
  std::string SpanContext(const SpanId& span_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether there is room for one more event of that many bytes, which are then paid.
  bool Pay(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint32_t level_;
  const bool with_spans_;
  const std::shared_ptr<TraceCollector> collector_;
  uint64_t root_id_ = 0;  // set by Begin

  Mutex mu_;
  std::unique_ptr<FinishedTrace> trace_ ABSL_GUARDED_BY(mu_);  // becomes finished
  std::vector<uint64_t> named_ ABSL_GUARDED_BY(mu_);           // ids whose names are there
};

// Null, as for nearly every request: it is not traced.
using TracedRequestPtr = std::shared_ptr<TracedRequest>;

// Why a request of inference fails, for its trace if it has one, and for the verbose log. Nothing
// if `error` is none.
void NoteError(const TracedRequestPtr& traced, const absl::Status& error);
inline void NoteFailure(const TracedRequestPtr& traced, const absl::Status& error) {
  if (!error.ok()) NoteError(traced, error);
}

// For lines of the log about `request`, which is not issued yet.
LogAbout AboutRequest(const InferRequest& request, const TracedRequestPtr& traced);

// Notes the end of sending when it is destroyed: whoever sends keeps it until all was sent.
class SendEndNote {
 public:
  SendEndNote(TracedRequestPtr request, const char* activity)
      : request_(std::move(request)), activity_(activity) {}
  ~SendEndNote() { request_->Note(activity_); }
  SendEndNote(const SendEndNote&) = delete;
  SendEndNote& operator=(const SendEndNote&) = delete;

 private:
  const TracedRequestPtr request_;
  const char* const activity_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACED_REQUEST_H_
