// SPDX-License-Identifier: Apache-2.0
// ResponseReceiver: the part of a connection or of a stream that has a request handled and receives
// the response, whatever the version of HTTP: brings the response, and news of a body in
// production, from any thread to the thread of the loop, and tells the handler if the client
// leaves.
//
// Everything happens on the loop's thread except Complete, CompleteWith, OnBodyPieces and what
// PutOff returns, which any thread may call.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_RECEIVER_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_RECEIVER_H_

#include <absl/container/inlined_vector.h>
#include <absl/functional/any_invocable.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "frontends/http/http_body_stream.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_server.h"
#include "frontends/transport/account.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/loop_connection.h"

namespace nereid::http {

class ResponseReceiver : public transport::Delivery,
                         public HttpResponseSink,
                         public HttpBodyStream::Reader {
 public:
  explicit ResponseReceiver(std::shared_ptr<transport::IoLoop> loop) : loop_(std::move(loop)) {}
  ~ResponseReceiver() override { DropResponse(); }

  // HttpResponseSink
  void Complete(HttpResponse response) final;
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make) final;
  void SetOnCancel(absl::AnyInvocable<void()> on_cancel) final;
  std::function<void()> PutOff(absl::AnyInvocable<void()> go_on) final;
  void AddHeader(absl::string_view name, std::string value) final {
    added_headers_.emplace_back(name, std::move(value));
  }
  InlineTurn* inline_turn() final { return loop_->turn(); }
  std::shared_ptr<Holder> holder() final { return account()->holder(); }
  // HttpBodyStream::Reader
  void OnBodyPieces() final;
  // Delivery: the response left by Complete or CompleteWith, new pieces of a body in production, or
  // the end of a delay.
  void OnDelivery() final;

 protected:
  // This object.
  virtual std::shared_ptr<ResponseReceiver> Receiver() = 0;
  // Pays for the texts of answers, whoever has made them.
  virtual transport::Account* account() = 0;
  // response() is there.
  virtual void OnResponse() = 0;
  // The body in production may have new pieces, which may also have been taken meanwhile.
  virtual void OnMoreBody() = 0;

  transport::IoLoop& loop() const { return *loop_; }
  // Has `request` handled; OnResponse may be called inside, if there is an answer at once.
  void Handle(HttpHandler* handler, std::unique_ptr<HttpRequest> request);
  // Takes the next pieces of the body in production from now on.
  void AttachBody() { response_.body_stream->Attach(Receiver()); }
  const HttpResponse& response() const { return response_; }
  HttpResponse* mutable_response() { return &response_; }
  // An answer of the transport. REQUIRES: no request is being handled.
  void SetResponse(HttpResponse response) { response_ = std::move(response); }
  // The response is sent completely.
  void FinishResponse();
  // The text of the response is sent, or never will be.
  void ReturnText() { account()->Return(std::exchange(charged_text_, 0)); }
  // Whether there is somebody to tell that the client has left.
  bool can_cancel() { return static_cast<bool>(on_cancel_); }
  // The client has left, or seems to have left.
  void CallOnCancel();
  // The client has left: a response that still comes is dropped.
  void Leave();

 private:
  void Completed();
  // Handles the request that was put off.
  void GoOn();
  // Charges the text of the response, or replaces the response by a refusal.
  void ChargeText();
  // Releases the response; the rest of a body still in production is then dropped.
  void DropResponse();

  const std::shared_ptr<transport::IoLoop> loop_;
  bool handling_ = false;  // a request is being handled, whose response is not there yet
  bool left_ = false;      // Leave was called
  absl::AnyInvocable<void()> on_cancel_;
  // By AddHeader, for the response of the request that is being handled.
  absl::InlinedVector<std::pair<absl::string_view, std::string>, 1> added_headers_;
  // One of these is written by Complete or CompleteWith on any thread while `handling_`. completed_
  // distinguishes that from new pieces of a body, and orders the accesses.
  std::atomic<bool> completed_{false};
  HttpResponse response_;
  absl::AnyInvocable<HttpResponse()> make_response_;
  absl::AnyInvocable<void()> go_on_;  // by PutOff, for the request that is being handled
  std::atomic<bool> resumed_{false};  // what PutOff returned was called
  uint64_t charged_text_ = 0;         // to the account
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_RECEIVER_H_
