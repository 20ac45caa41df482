// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/connection.h"

#include <absl/strings/match.h>
#include <poll.h>

#include <algorithm>
#include <string>
#include <utility>

#include "frontends/http/transport/body_receiver.h"
#include "frontends/http/transport/refusal.h"

namespace nereid::http {
namespace {

// Bytes read ahead while a request runs, to receive pipelined requests and to notice that the
// client has left.
constexpr size_t kReadAheadBytes = transport::InputBuffer::kInitialCapacity;
// The number of pipelined requests that are begun before the loop's other connections get their
// turn.
constexpr int kRequestsInARow = 4;
constexpr Duration kLingerTimeout = std::chrono::seconds(2);
// What a client of HTTP/2 sends first (RFC 9113, 3.4).
constexpr absl::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

}  // namespace

Connection::Connection(std::shared_ptr<ConnectionSettings> settings, std::shared_ptr<IoLoop> loop,
                       Channel channel, BudgetUnits slot)
    : ResponseReceiver(loop),
      settings_(std::move(settings)),
      loop_(std::move(loop)),
      channel_(std::move(channel)),
      slot_(std::move(slot)),
      account_(settings_->options.body_budget),
      reader_(&settings_->options, settings_->handler, account_.holder()),
      secured_(channel_.handshake_done()),
      is_http1_(settings_->http2 == nullptr),
      pace_(options().stall_timeout, options().min_bytes_per_second) {}

void Connection::Start() {
  loop_->Register(this);
  if (!channel_.Prepare()) return Close();
  SetDeadline(secured_ ? options().idle_timeout : options().header_timeout);
  Pump();
}

void Connection::Pump() {
  if (pumping_) return;  // the outer call continues with the next step
  pumping_ = true;
  begun_in_a_row_ = 0;
  while (begun_in_a_row_ < kRequestsInARow && Step()) {
  }
  pumping_ = false;
  if (begun_in_a_row_ == kRequestsInARow) {
    loop_->Post([self = Self()] { self->Pump(); });
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
  const bool known = KnowProtocol();
  if (state_ == State::kClosed) return false;
  switch (known ? reader_.Consume(&input_) : RequestReader::Progress::kNeedMore) {
    case RequestReader::Progress::kComplete:
      Dispatch();
      return true;
    case RequestReader::Progress::kFailed: {
      const RequestReader::Failure failure = reader_.failure();
      Fail(failure);
      return true;
    }
    case RequestReader::Progress::kNeedMore:
      break;
  }
  const bool begun = reader_.head_done() || !input_.empty();
  // A server that ends still reads a request that has begun: its client cannot know that it may
  // send it again.
  if (peer_gone_ || (loop_->draining() && !begun)) {
    CloseOrderly();
    return false;
  }
  body_begun_ = reader_.head_done();
  // A head is small and has a deadline from its first byte. A body may be of any size, so it has no
  // deadline, but must keep a pace.
  if (body_begun_) {
    KeepPace(reader_.body_bytes());
  } else if (begun && !request_begun_) {
    SetDeadline(options().header_timeout);
  }
  request_begun_ = begun;
  if (reader_.TakeExpectContinue()) writer_.AppendContinue();
  if (!writer_.done()) {
    const ResponseWriter::Progress sent = writer_.Flush(&channel_);
    if (sent == ResponseWriter::Progress::kBlocked) ArmWrite();
    if (sent == ResponseWriter::Progress::kFailed) Close();
  }
  return false;
}

bool Connection::KnowProtocol() {
  if (is_http1_ || input_.empty()) return is_http1_;
  const absl::string_view begin(input_.data(), std::min(input_.size(), kHttp2Preface.size()));
  is_http1_ = !absl::StartsWith(kHttp2Preface, begin);
  if (begin == kHttp2Preface) SpeakHttp2();
  return is_http1_;
}

void Connection::SpeakHttp2() {
  const std::string received(input_.data(), input_.size());
  state_ = State::kClosed;
  const auto next = std::make_shared<http2::Connection>(settings_->http2, loop_,
                                                        std::move(channel_), std::move(slot_));
  next->Continue(this, received);
}

void Connection::Dispatch() {
  ++begun_in_a_row_;
  traits_ = reader_.traits();
  if (reader_.left_body()) input_unusable_ = true;
  request_begun_ = body_begun_ = false;
  pace_.End();
  state_ = State::kRunning;
  deadline_ = TimePoint::max();
  Handle(settings_->handler, reader_.TakeRequest());
  if (peer_gone_) CallOnCancel();
}

void Connection::OnResponse() {
  response_ready_ = true;
  Pump();
}

void Connection::OnMoreBody() {
  if (state_ == State::kStreaming) Pump();
}

void Connection::Fail(const Refusal& refusal) {
  traits_ = reader_.traits();
  traits_.keep_alive = false;
  input_unusable_ = true;
  pace_.End();
  // A read that is under way still needs its buffer.
  if (!read_armed_) reader_.ReleaseBody();
  SetResponse(refusal.Response());
  StartWriting();
}

void Connection::StartWriting() {
  if (loop_->draining() || peer_gone_) traits_.keep_alive = traits_.keep_alive && !input_.empty();
  HttpBodyStream* const body = response().body_stream.get();
  if (body != nullptr && !traits_.http11) traits_.keep_alive = false;
  state_ = State::kWriting;
  writer_.Start(response(), traits_);
  if (body == nullptr) return;
  // The header and the available part of the body are sent together.
  AttachBody();
  HttpBodyStream::Taken taken = body->Take();
  body_done_ = taken.ended;
  writer_.Append(std::move(taken));
}

bool Connection::StepWriting() {
  switch (writer_.Flush(&channel_)) {
    case ResponseWriter::Progress::kDone:
      if (response().body_stream != nullptr && !body_done_) return StepStreaming();
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
  HttpBodyStream::Taken taken = response().body_stream->Take();
  if (taken.pieces.empty() && !taken.ended) {
    // No deadline while the model works on the next piece: the client is not the one that is slow.
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
  FinishResponse();  // releases the pieces of the body
  ReturnText();
  ReturnInput();
  pace_.End();
  if (traits_.keep_alive) {
    state_ = State::kReading;
    SetDeadline(options().idle_timeout);
    return;
  }
  const bool all_read = input_.empty() && !input_unusable_;
  if (peer_gone_ || (loop_->draining() && all_read)) {
    CloseOrderly();
  } else {
    StartLingering();
  }
}

std::optional<TimePoint> Connection::IdleSince() const {
  const bool begun = request_begun_ || reader_.head_done() || !input_.empty();
  if (state_ != State::kReading || begun || !writer_.done()) return std::nullopt;
  return deadline_ - (secured_ ? options().idle_timeout : options().header_timeout);
}

void Connection::StartLingering() {
  state_ = State::kLingering;
  channel_.ShutdownWrite();
  SetDeadline(kLingerTimeout);
}

void Connection::CloseOrderly() {
  channel_.ShutdownWrite();
  Close();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  channel_.Close();
  loop_->Unregister(this);
  slot_.Return();
  Leave();
}

absl::Span<char> Connection::RoomForInput() {
  const size_t capacity = input_.NextCapacity(options().max_header_bytes);
  if (capacity > kReadAheadBytes && capacity > charged_input_) {
    const absl::Status taken = account_.Take(capacity - charged_input_);
    if (!taken.ok()) {
      Fail({503, std::string(taken.message())});
      loop_->Post([self = Self()] { self->Pump(); });
      return {};
    }
    charged_input_ = capacity;
  }
  return input_.Prepare(options().max_header_bytes);
}

void Connection::ReturnInput() {
  if (input_.capacity() <= kReadAheadBytes) account_.Return(std::exchange(charged_input_, 0));
}

void Connection::ArmRead() {
  if (read_armed_ || peer_gone_ || state_ == State::kClosed) return;
  // What a long head has needed is not kept beside the request that was made of it.
  if (input_.empty() && input_.capacity() > kReadAheadBytes) input_.Release();
  if (state_ == State::kReading && !reader_.head_done()) ReturnInput();
  absl::Span<char> space;
  bool direct = false;
  if (state_ == State::kReading) {
    space = reader_.DirectBody();
    direct = !space.empty();
    if (!direct) space = RoomForInput();
  } else {
    if (state_ == State::kLingering) input_.Consume(input_.size());
    space = input_.Prepare(kReadAheadBytes);
  }
  if (space.empty()) return;
  read_armed_ = true;
  channel_.AsyncRead(
      space, [self = Self(), direct](Channel::Result result) { self->OnRead(result, direct); });
}

void Connection::OnRead(Channel::Result result, bool direct) {
  read_armed_ = false;
  if (state_ == State::kClosed) return;
  if (result.kind == Channel::Result::kEnd || result.kind == Channel::Result::kFailed) {
    return OnPeerGone(result.kind == Channel::Result::kEnd);
  }
  if (direct) {
    reader_.DirectBodyReceived(result.bytes);
  } else {
    input_.Commit(result.bytes);
  }
  if (!secured_ && channel_.handshake_done() && !OnHandshakeDone()) return;
  if (channel_.WantsWrite()) ArmWrite();
  Pump();
}

bool Connection::OnHandshakeDone() {
  secured_ = true;
  SetDeadline(options().idle_timeout);
  if (is_http1_ || channel_.alpn().empty()) return true;
  is_http1_ = channel_.alpn() != "h2";
  if (!is_http1_) SpeakHttp2();
  return is_http1_;
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
  const auto direction =
      channel_.WantsRead() ? transport::Socket::wait_read : transport::Socket::wait_write;
  channel_.socket().async_wait(direction, [self = Self()](const boost::system::error_code&) {
    self->write_armed_ = false;
    if (self->state_ != State::kWriting && self->channel_.WantsWrite()) {
      (void)self->channel_.Write({});  // what TLS has to say itself
    }
    self->Pump();
  });
}

void Connection::Sweep(TimePoint now) {
  const bool runs = state_ == State::kRunning || state_ == State::kStreaming;
  if (runs && !read_armed_ && can_cancel()) LookForHangup();
  CheckDeadline(now);
}

void Connection::LookForHangup() {
  pollfd look{channel_.socket().native_handle(), POLLRDHUP, 0};
  if (poll(&look, 1, 0) <= 0) return;
  // After a half-close, what the client has sent before is still read once the answer was sent.
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
  // A server that ends does not wait long for a client that takes nothing.
  const bool stalled = loop_->draining() && state_ == State::kWriting &&
                       pace_.StalledFor(now, transport::kEndingStall);
  if (now < deadline_ && !stalled) return;
  if (pace_.under_way()) settings_->slow_clients.fetch_add(1, std::memory_order_relaxed);
  if (state_ == State::kReading && request_begun_) {
    Fail({408, body_begun_ ? SlowBodyError(pace_, options())
                           : "timed out waiting for the request header"});
    Pump();
  } else if (state_ == State::kReading && secured_) {
    CloseOrderly();
  } else {
    Close();
  }
}

void Connection::OnDrain() {
  if (state_ == State::kReading) Pump();
}

void Connection::Abort() {
  const bool unread = is_http1_ && (reader_.head_done() || !input_.empty());
  if (state_ == State::kReading && unread) RefuseUnread();
  Close();
}

void Connection::RefuseUnread() {
  traits_ = reader_.traits();
  traits_.keep_alive = false;
  SetResponse(MakeErrorResponse(503, kStoppedReading));
  writer_.Start(response(), traits_);
  if (writer_.Flush(&channel_) == ResponseWriter::Progress::kDone) {
    channel_.CloseAfterAnswer(loop_->Scratch());
  }
}

}  // namespace nereid::http
