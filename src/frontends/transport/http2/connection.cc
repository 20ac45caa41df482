// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/connection.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/log.h"

namespace nereid::http2 {
namespace {

using transport::Channel;
using transport::Socket;

// Bytes that wait for the socket before no further frames are made.
constexpr size_t kOutputBytes = 512 << 10;
constexpr size_t kPiecesPerWrite = 128;
// Bytes that are read into the scratch memory where much is to be received in place behind them.
constexpr size_t kLittle = 4 << 10;
// Reads of a connection before others have their turn.
constexpr int kReadsInARow = 4;
// How long a client may take to hear that the connection is about to end.
constexpr Duration kAnnouncement = std::chrono::seconds(1);
// How long a client may take to close a connection that the server has ended.
constexpr Duration kLinger = std::chrono::seconds(1);

// Between 0.9 and 1.1, different for connections that begin together.
double AgeFactor(const void* connection) {
  return 0.9 +
         0.2 * static_cast<double>((reinterpret_cast<uintptr_t>(connection) >> 6) % 1021) / 1021;
}

}  // namespace

Connection::Connection(std::shared_ptr<ConnectionSettings> settings,
                       std::shared_ptr<transport::IoLoop> loop, Channel channel, BudgetUnits slot)
    : settings_(std::move(settings)),
      loop_(std::move(loop)),
      channel_(std::move(channel)),
      slot_(std::move(slot)),
      session_(new Session(settings_->session, this)),
      pace_(settings_->stall_timeout, settings_->min_bytes_per_second),
      begun_(loop_->Now()),
      idle_since_(begun_) {
  keepalive_.emplace(settings_->keepalive, begun_, AgeFactor(this));
  flood_guard_.emplace(settings_->control_frames_per_second, begun_);
}

Connection::~Connection() = default;

void Connection::Start() {
  loop_->Register(this);
  if (!channel_.Prepare()) return Close();
  Begin({});
}

void Connection::Continue(transport::LoopConnection* previous, absl::string_view bytes) {
  loop_->Replace(previous, this);
  Begin(bytes);
}

void Connection::Begin(absl::string_view received) {
  if (loop_->draining()) Announce();
  OnOutput();
  if (!received.empty()) Receive(received);
  // Bytes that came with them may be decrypted already.
  if (channel_.HasBuffered()) return OnReadable();
  ArmRead();
}

// ---- Reading

void Connection::ArmRead() {
  if (read_armed_ || closed_) return;
  read_armed_ = true;
  channel_.socket().async_wait(Socket::wait_read,
                               [self = Self()](const boost::system::error_code& error) {
                                 self->read_armed_ = false;
                                 if (!error) self->OnReadable();
                               });
}

void Connection::OnReadable() {
  for (int i = 0; i < kReadsInARow; ++i) {
    if (!ReadSome()) break;
  }
  if (!closed_ && channel_.WantsWrite()) ArmWrite();
  if (!closed_ && channel_.HasBuffered()) {
    // No event tells of bytes that are decrypted already.
    loop_->Post([self = Self()] { self->OnReadable(); });
    return;
  }
  ArmRead();
}

bool Connection::ReadSome() {
  if (closed_) return false;
  const DataPlace place = ending_ ? DataPlace() : session_->PlaceForData();
  const absl::Span<char> room = RoomFor(place);
  const Channel::Result result = channel_.Read(room);
  switch (result.kind) {
    case Channel::Result::kOk:
      break;
    case Channel::Result::kWouldBlock:
      return false;
    case Channel::Result::kEnd:
    case Channel::Result::kFailed:
      Close();
      return false;
  }
  keepalive_->Received(loop_->Now());
  if (!ending_) Receive(absl::string_view(room.data(), result.bytes));
  return result.bytes == room.size();
}

// The data of a large frame is received where its message is put together. Where that has no room
// before more is paid for, and behind the frame, where another large one probably follows, only a
// little is read elsewhere.
absl::Span<char> Connection::RoomFor(const DataPlace& place) {
  const bool in_place = place.room.size() >= settings_->session.least_in_place;
  const bool followed = std::exchange(read_in_place_, in_place);
  if (in_place) return place.room;
  const absl::Span<char> scratch = loop_->Scratch();
  return followed || place.owner != nullptr ? scratch.subspan(0, kLittle) : scratch;
}

void Connection::Receive(absl::string_view bytes) {
  const absl::Status received = session_->Receive(bytes);
  if (received.ok()) return;
  LOG_VERBOSE(1) << "ending a connection: " << received.message();
  if (absl::IsResourceExhausted(received)) {
    settings_->abusive_clients.fetch_add(1, std::memory_order_relaxed);
  }
  ending_ = true;
  session_->Terminate(ErrorCode::kProtocolError, received.message());
}

// ---- Writing

void Connection::OnOutput() {
  if (end_of_turn_asked_ || flushing_ || closed_) return;
  end_of_turn_asked_ = true;
  loop_->AtEndOfTurn(shared_from_this());
}

void Connection::OnEndOfTurn() {
  end_of_turn_asked_ = false;
  Flush();
}

void Connection::Flush() {
  if (closed_ || flushing_ || write_armed_ || lingers_until_.has_value()) return;
  flushing_ = true;
  std::array<iovec, kPiecesPerWrite> pieces;
  bool blocked = false;
  // TLS may have bytes of its own to send, of a handshake or of a record begun before, although the
  // session has none.
  if (output_.empty() && channel_.WantsWrite()) (void)channel_.Write({});
  while (!blocked) {
    // Not only when it is empty: small remains would become small writes.
    if (output_.size() < kOutputBytes / 2) session_->Fill(&output_, kOutputBytes);
    if (output_.empty() || closed_) break;
    const size_t count = output_.Gather(absl::MakeSpan(pieces));
    const Channel::Result result = channel_.Write(absl::MakeConstSpan(pieces.data(), count));
    if (result.kind == Channel::Result::kWouldBlock) {
      blocked = true;
    } else if (result.kind != Channel::Result::kOk) {
      flushing_ = false;
      return Close();
    } else {
      written_ += result.bytes;
      output_.Consume(result.bytes);
    }
  }
  flushing_ = false;
  if (closed_) return;
  const bool ending = ending_ || session_->ended();
  // An ending connection is closed only after the last record of TLS, or the client takes the end
  // for an attack.
  if (blocked || (ending && channel_.WantsWrite())) {
    KeepPace();
    return ArmWrite();
  }
  pace_.End();
  if (ending) return Linger();
  if (channel_.WantsWrite()) ArmWrite();
}

void Connection::ArmWrite() {
  if (write_armed_ || closed_) return;
  write_armed_ = true;
  const auto direction = channel_.WantsRead() ? Socket::wait_read : Socket::wait_write;
  channel_.socket().async_wait(direction, [self = Self()](const boost::system::error_code&) {
    self->write_armed_ = false;
    self->Flush();
  });
}

void Connection::KeepPace() {
  const TimePoint now = loop_->Now();
  if (!pace_.under_way()) pace_.Begin(now, written_);
  pace_.Moved(now, written_);
}

void Connection::Linger() {
  ending_ = true;
  lingers_until_ = loop_->Now() + kLinger;
  channel_.ShutdownWrite();
  session_->CloseStreams();
}

// ---- Events of the session

std::shared_ptr<StreamUser> Connection::OnRequest(const std::shared_ptr<Stream>& stream) {
  used_ = true;
  return settings_->acceptor->OnRequest(stream, Self());
}

void Connection::OnControlFrame() {
  if (!flood_guard_->Frame(loop_->Now())) Punish("too_many_control_frames");
}

void Connection::OnPing(bool is_answer) {
  if (is_answer) {
    if (announced_until_.has_value()) EndAnnouncement();
    return;
  }
  if (!keepalive_->OnPing(loop_->Now(), session_->open_streams() > 0)) Punish("too_many_pings");
}

void Connection::Punish(absl::string_view why) {
  if (std::exchange(ending_, true)) return;
  settings_->abusive_clients.fetch_add(1, std::memory_order_relaxed);
  LOG_VERBOSE(1) << "ending a connection: " << why;
  session_->Terminate(ErrorCode::kEnhanceYourCalm, why);
}

// ---- Time

void Connection::Sweep(TimePoint now) {
  if (closed_) return;
  if (lingers_until_.has_value()) {
    if (now >= *lingers_until_) Close();
    return;
  }
  if (!session_->begun() && now >= begun_ + settings_->handshake_timeout) return Close();
  if (IsTooSlow(now)) {
    CountSlowClient();
    return Close();
  }
  if (IsIdle(now)) Announce();
  if (announced_until_.has_value() && now >= *announced_until_) EndAnnouncement();
  switch (keepalive_->Check(now, session_->open_streams() > 0)) {
    case Keepalive::Action::kNone:
      break;
    case Keepalive::Action::kPing:
      session_->SendPing();
      break;
    case Keepalive::Action::kAnnounce:
      Announce();
      break;
    case Keepalive::Action::kClose:
      return Close();
  }
  session_->Sweep(now);
}

bool Connection::IsIdle(TimePoint now) {
  if (std::exchange(used_, false) || session_->open_streams() > 0) idle_since_ = now;
  return settings_->idle_timeout > Duration(0) && now >= idle_since_ + settings_->idle_timeout;
}

std::optional<TimePoint> Connection::IdleSince() const {
  const bool busy = session_->open_streams() > 0 || session_->open_head() != 0;
  if (busy || ending_ || closed_) return std::nullopt;
  return used_ ? loop_->Now() : idle_since_;
}

void Connection::LetGo() {
  session_->Terminate(ErrorCode::kNoError, "idle, and the server has no room for more connections");
  Flush();
  Close();
}

bool Connection::IsTooSlow(TimePoint now) {
  if (pace_.under_way() && now >= pace_.deadline()) return true;
  // Nothing else can arrive between the pieces of a head, so there is at most one.
  if (const int32_t head = session_->open_head(); head != open_head_) {
    open_head_ = head;
    head_begun_ = now;
  }
  return open_head_ != 0 && now >= head_begun_ + settings_->stall_timeout;
}

void Connection::Announce() {
  if (session_->announced() || closed_) return;
  announced_until_ = loop_->Now() + kAnnouncement;
  session_->Announce();
}

void Connection::EndAnnouncement() {
  announced_until_.reset();
  session_->EndAnnouncement();
}

void Connection::OnDrain() { Announce(); }

void Connection::Abort() {
  if (!closed_ && !lingers_until_.has_value() && session_->open_streams() > 0) {
    session_->Abort();
    Flush();
  }
  if (!closed_) channel_.CloseAfterAnswer(loop_->Scratch());
  Close();
}

void Connection::Close() {
  if (std::exchange(closed_, true)) return;
  channel_.Close();
  loop_->Unregister(this);
  slot_.Return();
  session_->CloseStreams();
  output_.Clear();
}

}  // namespace nereid::http2
