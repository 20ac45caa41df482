// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_InferenceTrace*: traces of an application, and of backends that issue requests.
#include "observe/trace/inference_trace.h"

#include <memory>
#include <utility>

#include "c_api/callbacks.h"
#include "c_api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::InferenceTrace;
using nereid::Text;
using nereid::ToCError;
using nereid::TraceActivity;
using nereid::Unwrap;
using nereid::Wrap;

static_assert(static_cast<int>(TraceActivity::kRequestEnd) == TRITONSERVER_TRACE_REQUEST_END);
static_assert(static_cast<int>(TraceActivity::kCustom) == TRITONSERVER_TRACE_CUSTOM_ACTIVITY);
static_assert(nereid::kTraceMin == TRITONSERVER_TRACE_LEVEL_MIN);
static_assert(nereid::kTraceMax == TRITONSERVER_TRACE_LEVEL_MAX);
static_assert(nereid::kTraceTimestamps == TRITONSERVER_TRACE_LEVEL_TIMESTAMPS);
static_assert(nereid::kTraceTensors == TRITONSERVER_TRACE_LEVEL_TENSORS);

namespace {

// The callbacks of an application, each of which may be null. Immutable.
class Callbacks final : public nereid::TraceReceiver {
 public:
  Callbacks(TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
            TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_fn,
            TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* userp)
      : activity_fn_(activity_fn), tensor_fn_(tensor_fn), release_fn_(release_fn), userp_(userp) {}

  void OnActivity(InferenceTrace* trace, TraceActivity activity, uint64_t time_ns) override {
    if (activity_fn_ == nullptr) return;
    nereid::Notify("trace activity", [&] {
      activity_fn_(Wrap(trace), static_cast<TRITONSERVER_InferenceTraceActivity>(activity), time_ns,
                   userp_);
    });
  }

  // As in Triton, which gives an application what a backend gets.
  bool TakesGpuMemory() const override { return true; }

  void OnTensor(InferenceTrace* trace, TraceActivity activity,
                const nereid::TraceTensor& tensor) override {
    if (tensor_fn_ == nullptr) return;
    nereid::Notify("trace tensor", [&] {
      tensor_fn_(Wrap(trace), static_cast<TRITONSERVER_InferenceTraceActivity>(activity),
                 tensor.name, static_cast<TRITONSERVER_DataType>(tensor.data_type), tensor.base,
                 tensor.byte_size, tensor.shape.data(), tensor.shape.size(),
                 static_cast<TRITONSERVER_MemoryType>(tensor.place.type), tensor.place.id, userp_);
    });
  }

  void OnRelease(std::unique_ptr<InferenceTrace> trace) override {
    if (release_fn_ == nullptr) return;
    nereid::Notify("trace release", [&] { release_fn_(Wrap(trace.release()), userp_); });
  }

 private:
  const TRITONSERVER_InferenceTraceActivityFn_t activity_fn_;
  const TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_fn_;
  const TRITONSERVER_InferenceTraceReleaseFn_t release_fn_;
  void* const userp_;
};

}  // namespace

extern "C" {

const char* TRITONSERVER_InferenceTraceLevelString(TRITONSERVER_InferenceTraceLevel level) {
  switch (level) {
    case TRITONSERVER_TRACE_LEVEL_DISABLED:
      return "DISABLED";
    case TRITONSERVER_TRACE_LEVEL_MIN:
      return "MIN";
    case TRITONSERVER_TRACE_LEVEL_MAX:
      return "MAX";
    case TRITONSERVER_TRACE_LEVEL_TIMESTAMPS:
      return "TIMESTAMPS";
    case TRITONSERVER_TRACE_LEVEL_TENSORS:
      return "TENSORS";
  }
  return "<unknown>";
}

const char* TRITONSERVER_InferenceTraceActivityString(
    TRITONSERVER_InferenceTraceActivity activity) {
  return nereid::TraceActivityName(static_cast<TraceActivity>(activity));
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp) try {
  return TRITONSERVER_InferenceTraceTensorNew(trace, level, parent_id, activity_fn, nullptr,
                                              release_fn, trace_userp);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceTensorNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp) try {
  auto callbacks =
      std::make_shared<Callbacks>(activity_fn, tensor_activity_fn, release_fn, trace_userp);
  *trace = Wrap(new InferenceTrace(static_cast<uint32_t>(level), parent_id, std::move(callbacks)));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceReportActivity(TRITONSERVER_InferenceTrace* trace,
                                                              uint64_t timestamp,
                                                              const char* activity_name) try {
  if (trace == nullptr) return nullptr;
  return ToCError(Unwrap(trace)->ReportCustom(timestamp, Text(activity_name)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceDelete(TRITONSERVER_InferenceTrace* trace) try {
  delete Unwrap(trace);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceId(TRITONSERVER_InferenceTrace* trace,
                                                  uint64_t* id) try {
  *id = Unwrap(trace)->id();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceParentId(TRITONSERVER_InferenceTrace* trace,
                                                        uint64_t* parent_id) try {
  *parent_id = Unwrap(trace)->parent_id();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelName(TRITONSERVER_InferenceTrace* trace,
                                                         const char** model_name) try {
  *model_name = Unwrap(trace)->model_name().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelVersion(TRITONSERVER_InferenceTrace* trace,
                                                            int64_t* model_version) try {
  *model_version = Unwrap(trace)->model_version();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceRequestId(TRITONSERVER_InferenceTrace* trace,
                                                         const char** request_id) try {
  *request_id = Unwrap(trace)->request_id().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceSpawnChildTrace(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTrace** child_trace) try {
  *child_trace = trace == nullptr ? nullptr : Wrap(Unwrap(trace)->MakeChild().release());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceSetContext(TRITONSERVER_InferenceTrace* trace,
                                                          const char* trace_context) try {
  Unwrap(trace)->SetContext(Text(trace_context));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceContext(TRITONSERVER_InferenceTrace* trace,
                                                       const char** trace_context) try {
  *trace_context = Unwrap(trace)->Context();
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
