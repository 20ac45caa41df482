// SPDX-License-Identifier: Apache-2.0
#include "infer/flight.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <cassert>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {

absl::StatusOr<std::unique_ptr<InferResponse>> OnlyResponse::Take() {
  if (count() != 1) {
    return absl::InternalError(absl::StrCat("expected a single response, got ", count()));
  }
  if (!first_->status().ok()) return first_->status();
  return std::move(first_);
}

Flight::~Flight() = default;

InferRequest* Flight::Draft(std::shared_ptr<ServingModel> model, int64_t requested_version) {
  assert(!request_.has_value());
  return &request_.emplace(std::move(model), requested_version);
}

void Flight::Drop() {
  assert(!issued());
  request_.reset();
  OnReleased();
  slot_.Return();
}

InferRequest* Flight::BeginIssue(std::shared_ptr<Flight> self, Outputs outputs) noexcept {
  InferRequest* const request = draft();
  assert(request != nullptr);
  request->set_release_target({&Flight::HandleRelease, this});
  ResponseTarget target{&Flight::HandleResponse, this, nullptr, outputs.allocator,
                        outputs.userp.get()};
  target.kept = std::move(outputs.userp);
  target.credit = std::move(outputs.credit);
  target.holder = std::move(outputs.holder);
  target.on_gpu = outputs.on_gpu;
  request->set_response_target(target);
  if (request->touches_gpus()) request->set_inline_turn(nullptr);
  issued_.store(true, std::memory_order_relaxed);
  self_ = std::move(self);
  return request;
}

std::shared_ptr<Flight> Flight::AbortIssue() {
  issued_.store(false, std::memory_order_relaxed);
  return std::move(self_);
}

void Flight::EndIssue() {
  uint32_t state = state_.load(std::memory_order_acquire);
  while ((state & kCancelled) == 0) {
    if (state_.compare_exchange_weak(state, (state & ~kIssuing) | kInCore,
                                     std::memory_order_acq_rel, std::memory_order_acquire)) {
      if ((state & kKept) == kIssuing) const std::shared_ptr<Flight> last = std::move(self_);
      return;
    }
  }
  CancelInCore();
  state_.fetch_or(kInCore, std::memory_order_release);
  End(kIssuing);
}

void Flight::Cancel() {
  const uint32_t before = state_.fetch_or(kCancelled, std::memory_order_acq_rel);
  // Otherwise EndIssue sees the bit, or a former call has done it.
  if ((before & (kInCore | kCancelled)) == kInCore) CancelInCore();
}

void Flight::CancelInCore() {
  LOG_VERBOSE(1) << request_->About() << "the client cancels its request of model '"
                 << request_->model()->config().name << "'";
  request_->Cancel().IgnoreError();  // fails for a request that was never issued
}

void Flight::HandleRelease(InferRequest* request, uint32_t, const ReleaseTarget& target) {
  auto* const self = static_cast<Flight*>(target.userp);
  request->RemoveAllInputs();
  self->OnReleased();
  self->End(kUnreleased);
}

void Flight::HandleResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target) {
  auto* const self = static_cast<Flight*>(target.userp);
  const bool is_final = (flags & kResponseCompleteFinal) != 0;
  // Also runs if the frontend throws for lack of memory.
  const absl::Cleanup end = [self, is_final] {
    if (is_final) self->End(kUnanswered);
  };
  self->OnResponse(std::unique_ptr<InferResponse>(response), is_final);
}

void Flight::End(uint32_t kept) {
  const uint32_t before = state_.fetch_and(~kept, std::memory_order_acq_rel);
  if ((before & kKept) == kept) const std::shared_ptr<Flight> last = std::move(self_);
}

}  // namespace nereid
