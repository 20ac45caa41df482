#include "infer/response_stream.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <new>
#include <utility>

#include "base/log.h"
#include "infer/request_trace.h"
#include "infer/response.h"
#include "infer/serving_model.h"

namespace nereid {
namespace {

thread_local Duration time_in_receivers{0};

}  // namespace

ResponseStream::ResponseStream(ModelPass pass, std::string request_id, const ResponseTarget& target,
                               TracePtr trace)
    : pass_(std::move(pass)),
      request_id_(std::move(request_id)),
      target_(target),
      trace_(std::move(trace)) {}

ResponseStream::~ResponseStream() {
  if (!final_sent_.exchange(true)) Deliver(ErrorOfBackend(), kResponseCompleteFinal);
  // May deliver what waits for this one.
  relay_.reset();
  // While the model is still there: who has waited for the server has all traces back, but for
  // those of responses that he still has.
  trace_.reset();
}

std::unique_ptr<InferResponse> ResponseStream::ErrorOfBackend() noexcept try {
  const absl::Status error = absl::InternalError(
      absl::StrCat("model '", model()->config().name, "': the backend '", model()->config().backend,
                   "' ended the request without a final response"));
  LOG_ERROR << error.message();
  // No shared_ptr to this object can be made any more: the response goes out without one.
  auto response = std::make_unique<InferResponse>(nullptr, model(), request_id_, target_.allocator,
                                                  target_.allocator_userp, trace_);
  response->set_status(error);
  return response;
} catch (...) {
  return nullptr;
}

std::unique_ptr<InferResponse> ResponseStream::NewResponse() {
  // What the allocator needs may be gone once the final response was delivered.
  if (!final_sent()) {
    if (absl::Status started = target_.allocator->Start(target_.allocator_userp); !started.ok()) {
      LOG_ERROR << "response allocation start failed: " << started.message();
    }
  }
  return std::make_unique<InferResponse>(shared_from_this(), model(), request_id_,
                                         target_.allocator, target_.allocator_userp, trace_);
}

absl::Status ResponseStream::Send(std::unique_ptr<InferResponse> response, uint32_t flags) {
  const bool is_final = (flags & kResponseCompleteFinal) != 0;
  {
    MutexLock lock(&mu_);
    if (final_sent()) {
      return absl::InternalError(absl::StrCat(
          "[request id: ", request_id_.empty() ? "<id_unknown>" : request_id_, "] model '",
          model()->config().name, "': a response was sent after the final one; it is dropped"));
    }
    if (!is_final) {
      ++delivering_;
    } else {
      final_sent_.store(true, std::memory_order_release);
      if (delivering_ > 0) {
        held_final_ = HeldResponse{std::move(response), flags};
        return absl::OkStatus();
      }
    }
  }
  // Also where the relay has no memory for it: a final response that waits must not wait for ever.
  absl::Cleanup delivered = [this] { EndDelivery(); };
  if (is_final) std::move(delivered).Cancel();
  Deliver(std::move(response), flags);
  return absl::OkStatus();
}

void ResponseStream::EndDelivery() {
  std::optional<HeldResponse> final_response;
  {
    MutexLock lock(&mu_);
    if (--delivering_ == 0) final_response = std::exchange(held_final_, std::nullopt);
  }
  if (final_response.has_value()) {
    Deliver(std::move(final_response->response), final_response->flags);
  }
}

void ResponseStream::SendFinalError(const absl::Status& error) {
  if (final_sent()) return;
  std::unique_ptr<InferResponse> response;
  try {
    response = NewResponse();
    response->set_status(error);
  } catch (const std::bad_alloc&) {
    response = nullptr;  // the client gets the end of its request, if nothing else
  }
  Send(std::move(response), kResponseCompleteFinal).IgnoreError();  // another was faster
}

void ResponseStream::LookAt(const InferResponse* response, uint32_t flags) noexcept try {
  if (trace_ != nullptr && response != nullptr) TraceOutputs(trace_.get(), *response);
  if (tap_ != nullptr) tap_->OnResponse(response, flags);
} catch (const std::bad_alloc&) {
  // The client gets the response, whatever could not be noted of it.
}

void ResponseStream::Deliver(std::unique_ptr<InferResponse> response, uint32_t flags) {
  LookAt(response.get(), flags);
  // The receiver must not keep the stream alive: dropped here, which may be done safely because
  // whoever called Send holds a reference of their own.
  if (response != nullptr) response->TakeStream().reset();
  const Clock* const clock = model()->clock();
  const TimePoint start = clock->Now();
  const Duration before = time_in_receivers;
  if (relay_ != nullptr) {
    relay_->Relay(std::move(response), flags, target_);
  } else {
    target_.fn(response.release(), flags, target_);
  }
  // Responses that were sent by the receiver are part of this.
  time_in_receivers = before + (clock->Now() - start);
}

Duration ResponseStream::TimeInReceivers() { return time_in_receivers; }

}  // namespace nereid
