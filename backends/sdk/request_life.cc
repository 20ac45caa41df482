// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/request_life.h"

#include <utility>

namespace nereid_backend {

RequestLife::~RequestLife() {
  if (request_ != nullptr) TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestDelete(request_));
}

TRITONSERVER_Error* RequestLife::Issue(Infer infer, TRITONSERVER_Server* server,
                                       TRITONSERVER_InferenceTrace* trace, const Outputs& outputs) {
  TRITONSERVER_Error* error =
      TRITONSERVER_InferenceRequestSetReleaseCallback(request_, &HandleRelease, this);
  if (error != nullptr) return error;
  error = TRITONSERVER_InferenceRequestSetResponseCallback(request_, outputs.allocator,
                                                           outputs.userp, &HandleResponse, this);
  if (error != nullptr) return error;
  error = infer(server, request_, trace);
  if (error == nullptr) EndIssue();
  return error;
}

void RequestLife::EndIssue() {
  uint32_t state = state_.load(std::memory_order_acquire);
  while ((state & kCancelled) == 0) {
    if (state_.compare_exchange_weak(state, state & ~kIssuing, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      if ((state & kAlive) == kIssuing) Finish();
      return;
    }
  }
  CancelInServer();
  End(kIssuing);
}

void RequestLife::Cancel() {
  uint32_t state = state_.load(std::memory_order_acquire);
  uint32_t next = 0;
  do {
    const bool ended = (state & (kUnreleased | kUnanswered)) == 0;
    if (ended || (state & kCancelled) != 0) return;
    next = state | kCancelled;
    if ((state & kIssuing) == 0) next |= kCancelling;
  } while (!state_.compare_exchange_weak(state, next, std::memory_order_acq_rel,
                                         std::memory_order_acquire));
  if ((next & kCancelling) == 0) return;  // EndIssue sees the bit
  CancelInServer();
  End(kCancelling);
}

// The only error is that of a request that was not issued.
void RequestLife::CancelInServer() {
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestCancel(request_));
}

void RequestLife::HandleResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags,
                                 void* self) {
  auto* const life = static_cast<RequestLife*>(self);
  // Also ends the request if OnResponse throws for lack of memory.
  const struct AtEnd {
    ~AtEnd() {
      if (final) life->End(kUnanswered);
    }
    RequestLife* const life;
    const bool final;
  } at_end{life, (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0};
  life->OnResponse(response, at_end.final);
}

void RequestLife::HandleRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags,
                                void* self) {
  if ((flags & TRITONSERVER_REQUEST_RELEASE_ALL) == 0) return;
  auto* const life = static_cast<RequestLife*>(self);
  life->OnReleased(request);
  life->End(kUnreleased);
}

void RequestLife::End(uint32_t bit) {
  const uint32_t before = state_.fetch_and(~bit, std::memory_order_acq_rel);
  if ((before & kAlive) == bit) Finish();
}

void RequestLife::Finish() {
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestDelete(std::exchange(request_, nullptr)));
  OnEnded();
}

}  // namespace nereid_backend
