// SPDX-License-Identifier: Apache-2.0
// Connection: one client of HTTP/1.1. Reads a request, has it handled, writes the answer, and
// repeats. It keeps reading (a bounded amount) while a request runs, which allows pipelining and
// shows when the client leaves.
//
// A client whose first bytes are those of HTTP/2, or that has agreed on HTTP/2 in the TLS
// handshake, is passed on to an http2::Connection.
//
// Owned by its loop's I/O thread, see ResponseReceiver. Kept alive by its pending operations, by
// the responder of a running request and by the body of a response in production.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_CONNECTION_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_CONNECTION_H_

#include <atomic>
#include <memory>

#include "base/budget.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_server.h"
#include "frontends/http/transport/refusal.h"
#include "frontends/http/transport/request_reader.h"
#include "frontends/http/transport/response_receiver.h"
#include "frontends/http/transport/response_writer.h"
#include "frontends/transport/channel.h"
#include "frontends/transport/http2/connection.h"
#include "frontends/transport/input_buffer.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/loop_connection.h"
#include "frontends/transport/pace.h"

namespace nereid::http {

using transport::Channel;
using transport::IoLoop;

// What all connections of a server share. Thread-safe.
struct ConnectionSettings {
  ConnectionSettings(const HttpServerOptions& options_in, HttpHandler* handler_in)
      : options(options_in), handler(handler_in) {}

  const HttpServerOptions options;
  HttpHandler* const handler;                        // used only while the loops run
  std::shared_ptr<http2::ConnectionSettings> http2;  // null: HTTP/1.1 only
  std::atomic<uint64_t> slow_clients{0};             // dropped because they sent or read too slowly
};

class Connection final : public transport::LoopConnection, public ResponseReceiver {
 public:
  Connection(std::shared_ptr<ConnectionSettings> settings, std::shared_ptr<IoLoop> loop,
             Channel channel, BudgetUnits slot);

  // HttpResponseSink
  HttpOrigin origin() const override { return {channel_.peer(), "HTTP/1.1"}; }
  // LoopConnection
  void Start() override;
  void Sweep(TimePoint now) override;
  void OnDrain() override;
  void Abort() override;
  std::optional<TimePoint> IdleSince() const override;
  void LetGo() override { CloseOrderly(); }

 private:
  // ResponseReceiver
  std::shared_ptr<ResponseReceiver> Receiver() override { return Self(); }
  transport::Account* account() override { return &account_; }
  void OnResponse() override;
  void OnMoreBody() override;

  enum class State {
    kReading,    // reading a request, or idle between two
    kRunning,    // the handler has the request
    kWriting,    // sending the response
    kStreaming,  // all available parts of the response are written; more is being made
    kLingering,  // the response is sent; further input is discarded so that the close
                 // does not destroy the response on its way
    kClosed,
  };

  // Does everything possible without waiting, for a few requests at most, then starts the waits
  // that are needed.
  void Pump();
  // Makes one transition; false if it must wait.
  bool Step();
  bool StepReading();
  bool StepWriting();
  bool StepStreaming();
  // Looks at the first bytes; false if it takes more of them to know the protocol, or if the client
  // was passed on.
  bool KnowProtocol();
  // Passes the client on.
  void SpeakHttp2();
  void Dispatch();
  // Answers with an error of the transport and closes after it.
  void Fail(const Refusal& refusal);
  void StartWriting();
  void FinishExchange();
  void StartLingering();
  // Answers a request that is not read to its end, with as much as the socket takes at once.
  void RefuseUnread();
  // Tells a client of TLS that nothing was cut off, and closes.
  void CloseOrderly();
  void Close();

  // Room for more of a head or of chunks; empty if there is enough already, or if the byte limit
  // has refused it and the client is told so.
  absl::Span<char> RoomForInput();
  // A long head is no longer there, neither here nor as a request.
  void ReturnInput();
  void ArmRead();
  void OnRead(Channel::Result result, bool direct);
  // The TLS handshake is done; false if the client was passed on.
  bool OnHandshakeDone();
  void OnPeerGone(bool orderly);
  void ArmWrite();
  // Drops the client if it has moved too few bytes by now; `total` counts them from any fixed
  // start.
  void KeepPace(uint64_t total);
  // Answers 408 or closes if the current deadline has passed.
  void CheckDeadline(TimePoint now);
  // Whether the client has left; for when enough is read ahead and reading stops, so that it cannot
  // tell.
  void LookForHangup();
  void SetDeadline(Duration from_now) { deadline_ = loop_->Now() + from_now; }
  const HttpServerOptions& options() const { return settings_->options; }
  std::shared_ptr<Connection> Self() {
    return std::static_pointer_cast<Connection>(shared_from_this());
  }

  const std::shared_ptr<ConnectionSettings> settings_;
  const std::shared_ptr<IoLoop> loop_;  // before the channel, which needs its io_context
  Channel channel_;
  BudgetUnits slot_;
  transport::Account account_;
  transport::InputBuffer input_;
  uint64_t charged_input_ = 0;  // to the account, for a large input_ or the head made of it
  RequestReader reader_;
  ResponseWriter writer_;

  State state_ = State::kReading;
  bool pumping_ = false;
  int begun_in_a_row_ = 0;  // requests passed to the handler by this call of Pump
  bool read_armed_ = false;
  bool write_armed_ = false;
  bool secured_;                 // the TLS handshake is done, or there is none
  bool is_http1_;                // known not to be HTTP/2
  bool peer_gone_ = false;       // the client will send nothing more
  bool request_begun_ = false;   // kReading: at least one byte of the request has arrived
  bool body_begun_ = false;      // kReading: the head is complete
  bool input_unusable_ = false;  // a failure left bytes with unknown boundaries
  bool response_ready_ = false;
  bool body_done_ = false;  // the end of response_.body_stream was taken
  TimePoint deadline_ = TimePoint::max();
  transport::Pace pace_;          // of the body being received, or of the response being sent
  RequestReader::Traits traits_;  // of the request being answered
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_CONNECTION_H_
