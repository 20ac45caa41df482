// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/response_receiver.h"

#include "base/log.h"

namespace nereid::http {
namespace {

// Of a path in the log.
constexpr size_t kMostLoggedBytes = 1024;

}  // namespace

void ResponseReceiver::Handle(HttpHandler* handler, std::unique_ptr<HttpRequest> request) {
  handling_ = true;
  added_headers_.clear();
  LOG_VERBOSE_REQUEST << "HTTP request: " << HttpMethodName(request->method()) << " "
                      << request->path().substr(0, kMostLoggedBytes);
  handler->Handle(std::move(request), HttpResponder(Receiver()));
}

void ResponseReceiver::SetOnCancel(absl::AnyInvocable<void()> on_cancel) {
  on_cancel_ = std::move(on_cancel);
}

std::function<void()> ResponseReceiver::PutOff(absl::AnyInvocable<void()> go_on) {
  go_on_ = std::move(go_on);
  // A later request may be put off, too, when this is called again.
  return [this, weak = std::weak_ptr<ResponseReceiver>(Receiver()),
          called = std::make_shared<std::atomic<bool>>(false)] {
    const std::shared_ptr<ResponseReceiver> self = weak.lock();
    if (self == nullptr || called->exchange(true)) return;
    resumed_.store(true, std::memory_order_release);
    loop_->Deliver(self);
  };
}

void ResponseReceiver::GoOn() {
  if (auto go_on = std::exchange(go_on_, nullptr)) go_on();
}

void ResponseReceiver::Complete(HttpResponse response) {
  response_ = std::move(response);
  Completed();
}

void ResponseReceiver::CompleteWith(absl::AnyInvocable<HttpResponse()> make) {
  make_response_ = std::move(make);
  Completed();
}

void ResponseReceiver::Completed() {
  completed_.store(true, std::memory_order_release);
  if (loop_->InLoop()) {
    OnDelivery();
  } else {
    loop_->Deliver(Receiver());
  }
}

void ResponseReceiver::OnBodyPieces() { loop_->Deliver(Receiver()); }

void ResponseReceiver::OnDelivery() {
  if (resumed_.exchange(false, std::memory_order_acquire)) return GoOn();
  if (!completed_.exchange(false, std::memory_order_acquire)) {
    if (!handling_ && !left_) OnMoreBody();
    return;
  }
  auto make = std::exchange(make_response_, nullptr);
  handling_ = false;
  if (left_) {
    on_cancel_ = nullptr;
    return DropResponse();
  }
  if (make) response_ = make();
  ChargeText();
  for (auto& header : added_headers_) response_.headers.push_back(std::move(header));
  added_headers_.clear();
  if (response_.body_stream == nullptr) on_cancel_ = nullptr;
  OnResponse();
}

void ResponseReceiver::ChargeText() {
  const uint64_t size = response_.text.size();
  if (size <= response_.units.amount()) return;
  const uint64_t unpaid = size - response_.units.amount();
  const absl::Status taken = account()->Take(unpaid, ShareUse::kAnswer);
  if (taken.ok()) {
    charged_text_ = unpaid;
    return;
  }
  // So short that it is part of what every request costs.
  response_ = MakeErrorResponse(503, taken.message());
}

void ResponseReceiver::FinishResponse() {
  on_cancel_ = nullptr;  // still set if the body was produced piece by piece
  DropResponse();
}

void ResponseReceiver::CallOnCancel() {
  if (auto on_cancel = std::exchange(on_cancel_, nullptr)) on_cancel();
}

void ResponseReceiver::Leave() {
  left_ = true;
  if (std::exchange(go_on_, nullptr)) handling_ = false;
  // While the request is handled, the response belongs to the thread that answers the request.
  if (!handling_) DropResponse();
  CallOnCancel();
}

void ResponseReceiver::DropResponse() {
  const HttpResponse dropped = std::exchange(response_, HttpResponse());
  // Releases the stream's reference to this object. The caller has another one.
  if (dropped.body_stream != nullptr) dropped.body_stream->Abort();
}

}  // namespace nereid::http
