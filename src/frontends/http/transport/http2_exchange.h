// SPDX-License-Identifier: Apache-2.0
// Http2Exchange: one request on an HTTP/2 stream and its response: what a Connection is for
// HTTP/1.1, without the socket, which belongs to the http2::Connection. Http2Acceptor makes them.
//
// Owned by its stream until that is closed, by the responder of a request that runs, and by the
// body of a response in production. See ResponseReceiver for the threads.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_HTTP2_EXCHANGE_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_HTTP2_EXCHANGE_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>

#include "base/log.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_server.h"
#include "frontends/http/transport/body_receiver.h"
#include "frontends/http/transport/refusal.h"
#include "frontends/http/transport/response_receiver.h"
#include "frontends/transport/http2/request_acceptor.h"
#include "frontends/transport/http2/stream.h"
#include "frontends/transport/http2/window_pace.h"
#include "frontends/transport/pace.h"

namespace nereid::http {

// What all exchanges of an acceptor share. Thread-safe.
struct Http2ExchangeSettings {
  Http2ExchangeSettings(const HttpServerOptions& options_in, HttpHandler* handler_in)
      : options(options_in), handler(handler_in) {}

  const HttpServerOptions options;
  HttpHandler* const handler;
};

class Http2Exchange final : public http2::StreamUser,
                            public ResponseReceiver,
                            public std::enable_shared_from_this<Http2Exchange> {
 public:
  Http2Exchange(std::shared_ptr<const Http2ExchangeSettings> settings,
                std::shared_ptr<transport::IoLoop> loop, std::shared_ptr<http2::Peer> peer,
                std::shared_ptr<http2::Stream> stream);

  // Reads the head. Called once, first.
  void Begin();

  // StreamUser
  void OnData(absl::string_view bytes) override;
  http2::DataPlace PlaceForData() override;
  void OnEndOfInput() override;
  void OnSent() override;
  void OnSweep(TimePoint now) override;
  void OnAbort() override;
  void OnClosed(bool complete) override;

  // HttpResponseSink
  uint64_t other_requests() const override { return peer_->open_streams() - 1; }
  HttpOrigin origin() const override { return {peer_->address(), "HTTP/2"}; }
  void NoteRequest(absl::FunctionRef<LogAbout()> about) override;

 private:
  enum class State {
    kReceiving,  // the body
    kRunning,    // the handler has the request
    kAnswering,  // the response is on its way, or is being made
    kClosed,     // the stream is
  };

  // ResponseReceiver
  std::shared_ptr<ResponseReceiver> Receiver() override { return shared_from_this(); }
  transport::Account* account() override { return peer_->account(); }
  void OnResponse() override;
  void OnMoreBody() override;

  bool BeginBody(const BodyLimit& limit);
  // Has the request handled.
  void Run();
  void Refuse(const Refusal& refusal);
  void SendHead(bool end);
  void SendBody();
  // Sends what there is of a body in production.
  void SendMoreBody();
  // Refuses the request if its body arrives too slowly.
  void KeepReadingPace(TimePoint now);
  const HttpServerOptions& options() const { return settings_->options; }

  const std::shared_ptr<const Http2ExchangeSettings> settings_;
  const std::shared_ptr<http2::Peer> peer_;
  const std::shared_ptr<http2::Stream> stream_;
  State state_ = State::kReceiving;
  bool is_head_ = false;    // the method is HEAD, whose answer has no body
  bool body_done_ = false;  // the end of the body in production was taken
  std::unique_ptr<HttpRequest> request_;
  BodyReceiver body_;
  transport::Pace reading_pace_;
  http2::WindowPace writing_pace_;
  std::shared_ptr<const void> kept_;  // of the response
  // The inference request that is answered, if there is one and somebody wants to know. Written
  // before the response is there, read only afterwards.
  LogAbout about_;
};

class Http2Acceptor final : public http2::RequestAcceptor {
 public:
  Http2Acceptor(const HttpServerOptions& options, HttpHandler* handler)
      : settings_(std::make_shared<Http2ExchangeSettings>(options, handler)) {}

  std::shared_ptr<http2::StreamUser> OnRequest(
      const std::shared_ptr<http2::Stream>& stream,
      const std::shared_ptr<http2::Connection>& connection) override;
  bool OnHeadTooLarge(http2::Stream* stream) override;
  bool OnNoRoom(http2::Stream* stream, const absl::Status& why) override;

 private:
  const std::shared_ptr<const Http2ExchangeSettings> settings_;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_HTTP2_EXCHANGE_H_
