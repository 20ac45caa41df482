// SPDX-License-Identifier: Apache-2.0
// What backends report about executions and responses (docs/reference/statistics.md).
#include <absl/strings/str_cat.h>

#include <utility>

#include "backend_host/api/handles.h"
#include "backend_host/execution_records.h"
#include "c_objects/error.h"
#include "infer/infer_request.h"
#include "observe/record/flight_record.h"
#include "observe/stats/model_statistics.h"

using nereid::BackendInstance;
using nereid::CaughtError;
using nereid::ExecutionRecords;
using nereid::InferRequest;
using nereid::ModelStatistics;
using nereid::ResponseOutcome;
using nereid::ToCError;
using nereid::Unwrap;

namespace {

// The object behind TRITONBACKEND_ModelInstanceResponseStatistics*. Thread-compatible.
struct ResponseReport {
  BackendInstance* instance = nullptr;
  nereid::ResponseFactory* factory = nullptr;
  uint64_t start = 0, output_start = 0, end = 0;
  TRITONSERVER_Error* error = nullptr;  // owned by the backend
};

ResponseReport* Report(TRITONBACKEND_ModelInstanceResponseStatistics* p) {
  return reinterpret_cast<ResponseReport*>(p);
}

ModelStatistics& StatisticsOf(BackendInstance* instance) {
  return instance->model()->serving_model()->statistics();
}

// OK if the timestamps are in order.
absl::Status CheckOrder(const ResponseReport& report) {
  if (report.output_start == 0) {
    return report.start <= report.end
               ? absl::OkStatus()
               : absl::InvalidArgumentError("Response start cannot happen after response end");
  }
  if (report.start > report.output_start) {
    return absl::InvalidArgumentError("Response start cannot happen after compute output start");
  }
  return report.output_start <= report.end
             ? absl::OkStatus()
             : absl::InvalidArgumentError("Compute output start cannot happen after response end");
}

// For steps that a failed request has not reached, backends report the time 0.
void TraceExecution(nereid::InferenceTrace* trace, uint64_t exec_start, uint64_t compute_start,
                    uint64_t compute_end, uint64_t exec_end) {
  using nereid::TraceActivity;
  const std::pair<TraceActivity, uint64_t> reached[] = {
      {TraceActivity::kComputeStart, exec_start},
      {TraceActivity::kComputeInputEnd, compute_start},
      {TraceActivity::kComputeOutputStart, compute_end},
      {TraceActivity::kComputeEnd, exec_end}};
  for (const auto& [activity, time_ns] : reached) {
    if (time_ns != 0) trace->Report(activity, time_ns);
  }
}

// A request that its model reschedules reports several times: from the first start to the last end.
void NoteExecution(nereid::FlightRecord* flight, uint64_t compute_start, uint64_t compute_end) {
  if (flight == nullptr) return;
  if (flight->compute_start == 0) flight->compute_start = compute_start;
  flight->compute_end = compute_end;
}

ResponseOutcome OutcomeOf(const ResponseReport& report) {
  if (report.error == nullptr) {
    return report.output_start > 0 ? ResponseOutcome::kSuccess : ResponseOutcome::kEmpty;
  }
  return TRITONSERVER_ErrorCode(report.error) == TRITONSERVER_ERROR_CANCELLED
             ? ResponseOutcome::kCancelled
             : ResponseOutcome::kFailed;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, const bool success,
    const uint64_t exec_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns) try {
  BackendInstance* const handle = Unwrap(instance);
  const InferRequest& r = *Unwrap(request);
  if (r.is_synthetic()) return nullptr;
  if (r.trace() != nullptr) {
    TraceExecution(r.trace(), exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns);
  }
  NoteExecution(r.stream()->flight(), compute_start_ns, compute_end_ns);
  ExecutionRecords::OnReport(&handle->model()->serving_model()->recorder(), r.stream()->flight(),
                             exec_start_ns, exec_end_ns);
  nereid::ExecutionReport report;
  report.shard = handle->statistics_shard();
  report.success = success;
  report.batch_size = r.batch_size();
  report.times.request_start = r.request_start_ns();
  report.times.queue_start = r.queue_start_ns();
  report.times.exec_start = exec_start_ns;
  report.times.compute_start = compute_start_ns;
  report.times.compute_end = compute_end_ns;
  report.times.exec_end = exec_end_ns;
  report.times.request_end = nereid::ToNanos(handle->model()->serving_model()->clock()->Now());
  if (success && r.compute_times() != nullptr) r.compute_times()->Add(report.times);
  r.stream()->Record(report);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t batch_size, const uint64_t exec_start_ns,
    const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns) try {
  BackendInstance* const handle = Unwrap(instance);
  StatisticsOf(handle).RecordBatch(handle->statistics_shard(), batch_size, exec_start_ns,
                                   compute_start_ns, compute_end_ns, exec_end_ns,
                                   handle->model()->serving_model()->clock()->WallMillis());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsNew(
    TRITONBACKEND_ModelInstanceResponseStatistics** response_statistics) try {
  *response_statistics =
      reinterpret_cast<TRITONBACKEND_ModelInstanceResponseStatistics*>(new ResponseReport);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsDelete(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics) try {
  delete Report(response_statistics);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ModelInstance* model_instance) try {
  Report(response_statistics)->instance = Unwrap(model_instance);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ResponseFactory* response_factory) try {
  Report(response_statistics)->factory = Unwrap(response_factory);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    uint64_t response_start) try {
  Report(response_statistics)->start = response_start;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    uint64_t compute_output_start) try {
  Report(response_statistics)->output_start = compute_output_start;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_end) try {
  Report(response_statistics)->end = response_end;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetError(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONSERVER_Error* error) try {
  Report(response_statistics)->error = error;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportResponseStatistics(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics) try {
  const ResponseReport& report = *Report(response_statistics);
  if (report.instance == nullptr || report.factory == nullptr) {
    return ToCError(absl::InvalidArgumentError(
        "response statistics need a model instance and a response factory before they are "
        "reported"));
  }
  const ResponseOutcome outcome = OutcomeOf(report);
  if (outcome != ResponseOutcome::kCancelled) {
    if (absl::Status ordered = CheckOrder(report); !ordered.ok()) return ToCError(ordered);
  }
  StatisticsOf(report.instance)
      .RecordResponse(report.factory->stream->NextStatisticsIndex(), outcome, report.start,
                      report.output_start, report.end);
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
