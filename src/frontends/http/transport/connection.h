// Connection: one client. Reads a request, has it handled, writes the answer, and repeats. It keeps
// reading (a bounded amount) while a request runs, which allows pipelining and shows when the
// client leaves.
//
// Owned by its loop's I/O thread: every method runs there except Complete, CompleteWith and
// OnBodyPieces, which any thread may call. Kept alive by its pending operations, by the responder
// of a running request and by the body of a response in production.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_CONNECTION_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_CONNECTION_H_

#include <absl/functional/any_invocable.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/budget.h"
#include "frontends/http/http_body_stream.h"
#include "frontends/http/http_message.h"
#include "frontends/http/transport/input_buffer.h"
#include "frontends/http/transport/io_loop.h"
#include "frontends/http/transport/pace.h"
#include "frontends/http/transport/request_reader.h"
#include "frontends/http/transport/response_writer.h"
#include "frontends/http/transport/socket.h"

namespace nereid::http {

class Connection final : public HttpResponseSink,
                         public HttpBodyStream::Reader,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<IoLoop> loop, Socket socket, BudgetUnits slot);
  ~Connection() override;

  void Start();

  // HttpResponseSink
  void Complete(HttpResponse response) override;
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make) override;
  void SetOnCancel(absl::AnyInvocable<void()> on_cancel) override;
  InlineTurn* inline_turn() override { return loop_->turn(); }

  // HttpBodyStream::Reader
  void OnBodyPieces() override;

  // Picks up the response left by Complete or CompleteWith, or new pieces of a body in production.
  void OnResponse();
  // Called periodically; checks what no event reports.
  void Sweep(TimePoint now);
  // The server is stopping: closes if idle, otherwise after the current request.
  void OnDrain();
  // Closes now; a running request is cancelled.
  void Abort();

 private:
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
  void Dispatch();
  void Completed();
  // Answers with an error of the transport and closes after it.
  void Fail(int status, absl::string_view message);
  void StartWriting();
  void FinishExchange();
  void StartLingering();
  void Close();

  void ArmRead();
  void OnRead(const boost::system::error_code& error, size_t size, bool direct);
  void OnPeerGone(bool orderly);
  void ArmWrite();
  // Drops the client if it has moved too few bytes by now; `total` counts them from any fixed
  // start.
  void KeepPace(uint64_t total);
  // Answers 408 or closes if the current deadline has passed.
  void CheckDeadline(TimePoint now);
  std::string BodyTimeoutText() const;
  // Whether the client has left; for when enough is read ahead and reading stops, so that it cannot
  // tell.
  void LookForHangup();
  void CallOnCancel();
  // Releases the response; the rest of a body still in production is then dropped.
  void DropResponse();
  void SetDeadline(Duration from_now) { deadline_ = loop_->Now() + from_now; }
  const HttpServerOptions& options() const { return loop_->options(); }

  const std::shared_ptr<IoLoop> loop_;  // before the socket, which needs its io_context
  Socket socket_;
  BudgetUnits slot_;
  InputBuffer input_;
  RequestReader reader_;
  ResponseWriter writer_;

  State state_ = State::kReading;
  bool pumping_ = false;
  int begun_in_a_row_ = 0;  // requests passed to the handler by this call of Pump
  bool read_armed_ = false;
  bool write_armed_ = false;
  bool peer_gone_ = false;       // the client will send nothing more
  bool request_begun_ = false;   // kReading: at least one byte of the request has arrived
  bool body_begun_ = false;      // kReading: the head is complete
  bool input_unusable_ = false;  // a failure left bytes with unknown boundaries
  bool response_ready_ = false;
  bool body_done_ = false;  // the end of response_.body_stream was taken
  TimePoint deadline_ = TimePoint::max();
  Pace pace_;                     // of the body being received, or of the response being sent
  RequestReader::Traits traits_;  // of the request being answered
  absl::AnyInvocable<void()> on_cancel_;
  // One of these is written by Complete or CompleteWith on any thread while kRunning. completed_
  // distinguishes that from new pieces of a body, and orders the accesses.
  std::atomic<bool> completed_{false};
  HttpResponse response_;
  absl::AnyInvocable<HttpResponse()> make_response_;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_CONNECTION_H_
