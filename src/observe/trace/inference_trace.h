// SPDX-License-Identifier: Apache-2.0
// InferenceTrace: reports to a receiver what happens to one request, as it happens. It is also the
// object behind TRITONSERVER_InferenceTrace*. Thread-safe except for Begin; no lock is held while
// the receiver is called.
//
// Ownership: the creator owns the trace until a request takes it (HoldTrace). From then on the
// request, its response stream and its responses share it; when the last of them releases it, the
// receiver owns it again.
#ifndef NEREID_OBSERVE_TRACE_INFERENCE_TRACE_H_
#define NEREID_OBSERVE_TRACE_INFERENCE_TRACE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/export.h"
#include "base/mutex.h"
#include "model/data_type.h"
#include "model/memory_kind.h"

namespace nereid {

class InferenceTrace;

// Values equal TRITONSERVER_InferenceTraceActivity.
enum class TraceActivity : int {
  kRequestStart = 0,
  kQueueStart = 1,
  kComputeStart = 2,
  kComputeInputEnd = 3,
  kComputeOutputStart = 4,
  kComputeEnd = 5,
  kRequestEnd = 6,
  kTensorQueueInput = 7,
  kTensorBackendInput = 8,
  kTensorBackendOutput = 9,
  kCustom = 10,
};

// "REQUEST_START" and so on, "<unknown>" for another value. Static.
NEREID_API const char* TraceActivityName(TraceActivity activity);

// Bits of a level; values equal TRITONSERVER_InferenceTraceLevel.
inline constexpr uint32_t kTraceMin = 1;  // old names of kTraceTimestamps
inline constexpr uint32_t kTraceMax = 2;
inline constexpr uint32_t kTraceTimestamps = 4;
inline constexpr uint32_t kTraceTensors = 8;

// One tensor of a request or a response. All pointers are borrowed for the call.
struct TraceTensor {
  const char* name = nullptr;
  DataType data_type = DataType::kInvalid;
  const void* base = nullptr;
  size_t byte_size = 0;
  absl::Span<const int64_t> shape;
  MemoryPlace place;
};

// The batch of requests with which a request goes to its backend.
struct TraceBatch {
  uint64_t id = 0;  // unique in the process, counted from 1
  size_t requests = 0;
  absl::Span<InferenceTrace* const> traces;  // of those requests that have one; for the call
};

// Receives the events. Thread-safe; shared by a trace and its children. Calls may come from any
// thread and concurrently, and must not block.
class TraceReceiver {
 public:
  virtual ~TraceReceiver() = default;
  // `time_ns`: steady clock.
  virtual void OnActivity(InferenceTrace* trace, TraceActivity activity, uint64_t time_ns) = 0;
  virtual void OnTensor(InferenceTrace* trace, TraceActivity activity,
                        const TraceTensor& tensor) = 0;
  // Whether OnTensor takes tensors that only a GPU can read; otherwise it is given copies.
  virtual bool TakesGpuMemory() const { return false; }
  // An activity with a name of its own. By default an OnActivity of kCustom.
  virtual void OnCustom(InferenceTrace* trace, absl::string_view /*name*/, uint64_t time_ns) {
    OnActivity(trace, TraceActivity::kCustom, time_ns);
  }
  // The request of `trace` goes to its backend in this batch.
  virtual void OnBatch(InferenceTrace* /*trace*/, const TraceBatch& /*batch*/) {}
  // The request of `trace` fails. May be called several times.
  virtual void OnError(InferenceTrace* /*trace*/, absl::string_view /*message*/) {}
  // `trace` has no holder any more. Called once for each time that the trace was taken.
  virtual void OnRelease(std::unique_ptr<InferenceTrace> trace) = 0;
};

// A shared reference to a trace.
using TracePtr = std::shared_ptr<InferenceTrace>;

class NEREID_API InferenceTrace {
 public:
  // `parent_id`: 0 for none.
  InferenceTrace(uint32_t level, uint64_t parent_id, std::shared_ptr<TraceReceiver> receiver);
  InferenceTrace(const InferenceTrace&) = delete;
  InferenceTrace& operator=(const InferenceTrace&) = delete;

  // A trace for a part of this trace's request, with the same level and receiver and this trace as
  // its parent.
  std::unique_ptr<InferenceTrace> MakeChild() const;

  // Unique in the process, counted from 1.
  uint64_t id() const { return id_; }
  uint64_t parent_id() const { return parent_id_; }
  // The names of the request, set by Begin. Before that: "", -1, "".
  const std::string& model_name() const { return model_name_; }
  int64_t model_version() const { return model_version_; }
  const std::string& request_id() const { return request_id_; }

  bool wants_tensors() const { return (level_ & kTraceTensors) != 0; }
  // Whether tensors on GPUs are told as copies in memory of the host.
  bool wants_copies() const { return !receiver_->TakesGpuMemory(); }
  // Does nothing if the level does not include `activity`.
  void Report(TraceActivity activity, uint64_t time_ns);
  void ReportTensor(TraceActivity activity, const TraceTensor& tensor);
  void ReportBatch(const TraceBatch& batch);
  void ReportError(absl::string_view message);
  // Stores `name` under the time in the context, and reports it (OnCustom). INVALID_ARGUMENT,
  // without any effect, if the context is not a JSON object.
  absl::Status ReportCustom(uint64_t time_ns, absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);

  // Starts the trace of a request: sets the names and reports kRequestStart. The report happens
  // once, even if the request is tried on two versions of its model. REQUIRES: no other thread uses
  // the trace yet.
  void Begin(absl::string_view model_name, int64_t model_version, absl::string_view request_id,
             uint64_t time_ns);

  // A text that travels with the trace, by convention a JSON object.
  void SetContext(absl::string_view context) ABSL_LOCKS_EXCLUDED(mu_);
  // "" if there is none. Valid as long as the trace lives, even after the context has changed.
  const char* Context() ABSL_LOCKS_EXCLUDED(mu_);
  // The `traceparent` in the context (W3C Trace Context): "00-<trace id>-<span id>-...", of which
  // the context may lack the end. Empty if there is none.
  std::string TraceParent() ABSL_LOCKS_EXCLUDED(mu_);
  // What a log calls the trace: the trace id of TraceParent(), by which other programs know it too,
  // or otherwise the number id().
  std::string LogId() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend TracePtr HoldTrace(std::unique_ptr<InferenceTrace> trace);

  void ReplaceContext(std::string context) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint32_t level_;
  const uint64_t id_;
  const uint64_t parent_id_;
  const std::shared_ptr<TraceReceiver> receiver_;
  // Set by Begin.
  std::string model_name_;
  int64_t model_version_ = -1;
  std::string request_id_;
  bool begun_ = false;

  Mutex mu_;
  // The last one is current. Earlier ones are kept because callers may still point to them.
  std::deque<std::string> contexts_ ABSL_GUARDED_BY(mu_);
  bool context_lent_ ABSL_GUARDED_BY(mu_) = false;
};

// Takes `trace`, which may be null. The trace goes back to its receiver when the last copy of the
// result is destroyed.
NEREID_API TracePtr HoldTrace(std::unique_ptr<InferenceTrace> trace);

}  // namespace nereid

#endif  // NEREID_OBSERVE_TRACE_INFERENCE_TRACE_H_
