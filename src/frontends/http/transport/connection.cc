#include "frontends/http/transport/connection.h"

#include <absl/strings/str_cat.h>
#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

namespace nereid::http {
namespace {

// Bytes read ahead while a request runs, to get pipelined requests or notice that the client left.
constexpr size_t kReadAheadBytes = InputBuffer::kInitialCapacity;
// Number of pipelined requests begun before the loop's other connections have their turn.
constexpr int kRequestsInARow = 4;
constexpr Duration kLingerTimeout = std::chrono::seconds(2);

}  // namespace

Connection::Connection(std::shared_ptr<IoLoop> loop, Socket socket, BudgetUnits slot)
    : loop_(std::move(loop)),
      socket_(std::move(socket)),
      slot_(std::move(slot)),
      reader_(&loop_->options()),
      pace_(loop_->options().stall_timeout, loop_->options().min_bytes_per_second) {}

Connection::~Connection() { DropResponse(); }

void Connection::Start() {
  boost::system::error_code error;
  socket_.non_blocking(true, error);
  if (!error) socket_.set_option(boost::asio::ip::tcp::no_delay(true), error);
  loop_->Register(this);
  if (error) return Close();  // reset before it could be set up
  SetDeadline(options().idle_timeout);
  Pump();
}

void Connection::Pump() {
  if (pumping_) return;  // the outer call goes on
  pumping_ = true;
  begun_in_a_row_ = 0;
  while (begun_in_a_row_ < kRequestsInARow && Step()) {
  }
  pumping_ = false;
  if (begun_in_a_row_ == kRequestsInARow) {
    loop_->Post([self = shared_from_this()] { self->Pump(); });
  }
  ArmRead();
}

bool Connection::Step() {
  switch (state_) {
    case State::kReading:
      return StepReading();
    case State::kRunning:
      if (!std::exchange(response_ready_, false)) return false;
      StartWriting();
      return true;
    case State::kWriting:
      return StepWriting();
    case State::kStreaming:
      return StepStreaming();
    case State::kLingering:
    case State::kClosed:
      return false;
  }
  return false;
}

bool Connection::StepReading() {
  switch (reader_.Consume(&input_)) {
    case RequestReader::Progress::kComplete:
      Dispatch();
      return true;
    case RequestReader::Progress::kFailed: {
      const RequestReader::Failure failure = reader_.failure();
      Fail(failure.status, failure.message);
      return true;
    }
    case RequestReader::Progress::kNeedMore:
      break;
  }
  const bool begun = reader_.head_done() || !input_.empty();
  if (peer_gone_ || (loop_->draining() && !begun)) {
    Close();
    return false;
  }
  body_begun_ = reader_.head_done();
  if (body_begun_) {
    KeepPace(reader_.body_bytes());
  } else if (begun && !request_begun_) {
    SetDeadline(options().header_timeout);
  }
  request_begun_ = begun;
  if (reader_.TakeExpectContinue()) {
    // Nothing else is waiting to be sent, so this fits. A client that never receives it sends its
    // body after a while anyway.
    static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    boost::system::error_code ignored;
    socket_.write_some(boost::asio::buffer(kContinue.data(), kContinue.size()), ignored);
  }
  return false;
}

void Connection::Dispatch() {
  ++begun_in_a_row_;
  traits_ = reader_.traits();
  request_begun_ = body_begun_ = false;
  pace_.End();
  state_ = State::kRunning;
  deadline_ = TimePoint::max();
  loop_->handler()->Handle(reader_.TakeRequest(), HttpResponder(shared_from_this()));
  if (peer_gone_) CallOnCancel();
}

void Connection::SetOnCancel(absl::AnyInvocable<void()> on_cancel) {
  on_cancel_ = std::move(on_cancel);
}

void Connection::Complete(HttpResponse response) {
  response_ = std::move(response);
  Completed();
}

void Connection::CompleteWith(absl::AnyInvocable<HttpResponse()> make) {
  make_response_ = std::move(make);
  Completed();
}

void Connection::Completed() {
  completed_.store(true, std::memory_order_release);
  if (loop_->InLoop()) {
    OnResponse();
  } else {
    loop_->Deliver(shared_from_this());
  }
}

void Connection::OnBodyPieces() { loop_->Deliver(shared_from_this()); }

void Connection::OnResponse() {
  if (!completed_.exchange(false, std::memory_order_acquire)) {
    // New pieces of a body, which may have been taken meanwhile.
    if (state_ == State::kStreaming) Pump();
    return;
  }
  auto make = std::exchange(make_response_, nullptr);
  if (state_ == State::kClosed) {
    on_cancel_ = nullptr;
    return DropResponse();
  }
  if (make) response_ = make();
  if (response_.body_stream == nullptr) on_cancel_ = nullptr;
  response_ready_ = true;
  Pump();
}

void Connection::Fail(int status, absl::string_view message) {
  traits_ = reader_.traits();
  traits_.keep_alive = false;
  input_unusable_ = true;
  pace_.End();
  // Bytes being received right now still need their buffer.
  if (!read_armed_) reader_.DropBody();
  response_ = MakeErrorResponse(status, message);
  StartWriting();
}

void Connection::StartWriting() {
  if (loop_->draining() || peer_gone_) traits_.keep_alive = traits_.keep_alive && !input_.empty();
  HttpBodyStream* const body = response_.body_stream.get();
  if (body != nullptr && !traits_.http11) traits_.keep_alive = false;
  state_ = State::kWriting;
  writer_.Start(response_, traits_);
  if (body == nullptr) return;
  // The header and the available part of the body are sent together.
  body->Attach(shared_from_this());
  HttpBodyStream::Taken taken = body->Take();
  body_done_ = taken.ended;
  writer_.Append(std::move(taken));
}

bool Connection::StepWriting() {
  switch (writer_.Flush(&socket_)) {
    case ResponseWriter::Progress::kDone:
      if (response_.body_stream != nullptr && !body_done_) return StepStreaming();
      FinishExchange();
      return true;
    case ResponseWriter::Progress::kBlocked:
      KeepPace(writer_.written());
      ArmWrite();
      return false;
    case ResponseWriter::Progress::kFailed:
      Close();
      return false;
  }
  return false;
}

bool Connection::StepStreaming() {
  HttpBodyStream::Taken taken = response_.body_stream->Take();
  if (taken.pieces.empty() && !taken.ended) {
    // No deadline, however long the model takes, because the client is known to be there.
    deadline_ = TimePoint::max();
    pace_.End();
    state_ = State::kStreaming;
    return false;
  }
  body_done_ = taken.ended;
  writer_.Append(std::move(taken));
  state_ = State::kWriting;
  return true;
}

void Connection::FinishExchange() {
  on_cancel_ = nullptr;  // belonged to a body made piece by piece
  DropResponse();        // releases the pieces of the body
  pace_.End();
  if (traits_.keep_alive) {
    state_ = State::kReading;
    SetDeadline(options().idle_timeout);
    return;
  }
  const bool all_read = input_.empty() && !input_unusable_;
  if (peer_gone_ || (loop_->draining() && all_read)) {
    Close();
  } else {
    StartLingering();
  }
}

void Connection::StartLingering() {
  state_ = State::kLingering;
  boost::system::error_code error;
  socket_.shutdown(Socket::shutdown_send, error);
  SetDeadline(kLingerTimeout);
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  // While a request runs, response_ belongs to whoever answers it.
  if (state_ != State::kRunning) DropResponse();
  state_ = State::kClosed;
  boost::system::error_code ignored;
  socket_.close(ignored);
  loop_->Unregister(this);
  slot_.Return();
  CallOnCancel();
}

void Connection::DropResponse() {
  const HttpResponse dropped = std::exchange(response_, HttpResponse());
  // May have been the last owner of this object; the caller keeps it alive, too.
  if (dropped.body_stream != nullptr) dropped.body_stream->Abort();
}

void Connection::CallOnCancel() {
  if (auto on_cancel = std::exchange(on_cancel_, nullptr)) on_cancel();
}

void Connection::ArmRead() {
  if (read_armed_ || peer_gone_ || state_ == State::kClosed) return;
  absl::Span<char> space;
  bool direct = false;
  if (state_ == State::kReading) {
    space = reader_.DirectBody();
    direct = !space.empty();
    if (!direct) space = input_.Prepare(options().max_header_bytes);
  } else {
    if (state_ == State::kLingering) input_.Consume(input_.size());
    space = input_.Prepare(kReadAheadBytes);
  }
  if (space.empty()) return;
  read_armed_ = true;
  socket_.async_read_some(
      boost::asio::buffer(space.data(), space.size()),
      [self = shared_from_this(), direct](const boost::system::error_code& error, size_t size) {
        self->OnRead(error, size, direct);
      });
}

void Connection::OnRead(const boost::system::error_code& error, size_t size, bool direct) {
  read_armed_ = false;
  if (state_ == State::kClosed) return;
  if (error) return OnPeerGone(error == boost::asio::error::eof);
  if (direct) {
    reader_.DirectBodyReceived(size);
  } else {
    input_.Commit(size);
  }
  Pump();
}

void Connection::OnPeerGone(bool orderly) {
  peer_gone_ = true;
  CallOnCancel();
  if (!orderly || state_ == State::kLingering) return Close();
  // The client may only have closed its sending side: an answer in progress is still sent.
  Pump();
}

void Connection::ArmWrite() {
  if (write_armed_) return;
  write_armed_ = true;
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code&) {
                       self->write_armed_ = false;
                       self->Pump();
                     });
}

void Connection::Sweep(TimePoint now) {
  const bool runs = state_ == State::kRunning || state_ == State::kStreaming;
  if (runs && !read_armed_ && on_cancel_) LookForHangup();
  CheckDeadline(now);
}

void Connection::LookForHangup() {
  pollfd look{socket_.native_handle(), POLLRDHUP, 0};
  if (poll(&look, 1, 0) <= 0) return;
  // What was sent before a half-close is still read, after the answer.
  if ((look.revents & (POLLERR | POLLHUP)) != 0) return OnPeerGone(/*orderly=*/false);
  CallOnCancel();
}

void Connection::KeepPace(uint64_t total) {
  const TimePoint now = loop_->Now();
  if (!pace_.under_way()) pace_.Begin(now, total);
  pace_.Moved(now, total);
  deadline_ = pace_.deadline();
}

void Connection::CheckDeadline(TimePoint now) {
  if (now < deadline_) return;
  if (pace_.under_way()) loop_->CountSlowClient();
  if (state_ == State::kReading && request_begun_) {
    Fail(408, body_begun_ ? BodyTimeoutText() : "timed out waiting for the request header");
    Pump();
  } else {
    Close();
  }
}

std::string Connection::BodyTimeoutText() const {
  if (!pace_.by_rate()) return "timed out waiting for the request body";
  return absl::StrCat("timed out: the request body arrives at less than ",
                      options().min_bytes_per_second,
                      " bytes per second (--http-min-rate-bytes-per-sec)");
}

void Connection::OnDrain() {
  if (state_ == State::kReading) Pump();
}

void Connection::Abort() { Close(); }

}  // namespace nereid::http
