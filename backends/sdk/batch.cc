// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/batch.h"

#include <algorithm>
#include <chrono>

#include "backends/sdk/log.h"
#include "backends/sdk/send_together.h"

namespace nereid_backend {

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

Batch::Batch(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
             uint32_t count, Clock now)
    : instance_(instance), now_(now), slots_(count), exec_start_(now()) {
  for (uint32_t i = 0; i < count; ++i) slots_[i].request = requests[i];
}

size_t Batch::live_count() const {
  size_t count = 0;
  for (const Slot& slot : slots_) count += slot.failed ? 0 : 1;
  return count;
}

int64_t Batch::live_rows() const {
  int64_t rows = 0;
  for (const Slot& slot : slots_) rows += slot.failed ? 0 : slot.rows;
  return rows;
}

Result<TRITONBACKEND_Response*> Batch::Response(size_t i) {
  Slot& slot = slots_[i];
  if (slot.response == nullptr) {
    NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseNew(&slot.response, slot.request));
  }
  return slot.response;
}

void Batch::DropResponse(size_t i) {
  if (slots_[i].response == nullptr) return;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseDelete(slots_[i].response), "failed to delete a response");
  slots_[i].response = nullptr;
}

void Batch::MarkComputeStart() {
  turn_start_ = now_();
  if (compute_start_ == 0) compute_start_ = turn_start_;
}

void Batch::MarkComputeEnd() {
  computed_ns_ += now_() - turn_start_;
  turn_start_ = 0;
}

void Batch::MarkComputed(uint64_t start, uint64_t end) {
  end = std::clamp(end, exec_start_, std::max(exec_start_, now_()));
  start = std::clamp(start, exec_start_, end);
  if (compute_start_ == 0) compute_start_ = start;
  computed_ns_ += end - start;
}

void Batch::Fail(size_t i, const Error& error) {
  Slot& slot = slots_[i];
  slot.failed = true;
  const Result<TRITONBACKEND_Response*> response = Response(i);
  if (!response.ok()) {
    NB_LOG_ERROR("failed to make the error response of a request: ", error.message());
    return;
  }
  slot.response = nullptr;
  NB_LOG_IF_ERROR(
      TRITONBACKEND_ResponseSend(*response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()),
      "failed to send an error response");
}

void Batch::FailAll(const Error& error) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (live(i)) Fail(i, error);
  }
}

void Batch::ReportStatistics(uint64_t end) {
  if (compute_start_ == 0) compute_start_ = turn_start_ = exec_start_;
  if (turn_start_ != 0) computed_ns_ += end - turn_start_;
  const uint64_t compute_end = compute_start_ + computed_ns_;
  for (const Slot& slot : slots_) {
    NB_LOG_IF_ERROR(
        TRITONBACKEND_ModelInstanceReportStatistics(instance_, slot.request, !slot.failed,
                                                    exec_start_, compute_start_, compute_end, end),
        "failed to report request statistics");
  }
  const int64_t rows = live_rows();
  if (rows == 0) return;
  NB_LOG_IF_ERROR(
      TRITONBACKEND_ModelInstanceReportBatchStatistics(
          instance_, static_cast<uint64_t>(rows), exec_start_, compute_start_, compute_end, end),
      "failed to report batch statistics");
}

void Batch::Finish() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!live(i)) continue;
    const Result<TRITONBACKEND_Response*> response = Response(i);
    if (!response.ok()) {
      // No response can be made; the server notices at release.
      slots_[i].failed = true;
      NB_LOG_ERROR("failed to make the response of a request");
    }
  }
  // Reported before the responses are sent, so that a client that has its answer finds it counted.
  ReportStatistics(now_());
  if (slots_.size() == 1) return Send(&slots_[0]);
  SendTogether([this] {
    for (Slot& slot : slots_) Send(&slot);
  });
}

void Batch::Send(Slot* slot) {
  if (slot->response != nullptr) {
    NB_LOG_IF_ERROR(
        TRITONBACKEND_ResponseSend(slot->response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, nullptr),
        "failed to send a response");
    slot->response = nullptr;
  }
  NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(slot->request, TRITONSERVER_REQUEST_RELEASE_ALL),
                  "failed to release a request");
}

}  // namespace nereid_backend
