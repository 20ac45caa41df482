// SPDX-License-Identifier: Apache-2.0
// Connection: one client that speaks HTTP/2: moves bytes between the socket and the session, sends
// the answers of a turn of the loop together, and keeps the limits on what a client may cost.
//
// Owned by its loop's thread, on which every method runs. Kept alive by its pending operations and
// by the requests that are open on it.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_CONNECTION_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_CONNECTION_H_

#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "frontends/transport/channel.h"
#include "frontends/transport/http2/flood_guard.h"
#include "frontends/transport/http2/keepalive.h"
#include "frontends/transport/http2/output_queue.h"
#include "frontends/transport/http2/request_acceptor.h"
#include "frontends/transport/http2/session.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/pace.h"

namespace nereid::http2 {

// What all connections of a port share. Thread-safe.
struct ConnectionSettings {
  SessionOptions session;
  KeepaliveOptions keepalive;
  double control_frames_per_second = 200;                 // see FloodGuard
  Duration handshake_timeout = std::chrono::seconds(60);  // until the client has begun to speak
  // Of a client that takes no bytes, or does not end the head of a request.
  Duration stall_timeout = std::chrono::seconds(60);
  uint64_t min_bytes_per_second = 1024;  // of a client that takes some
  // Of a connection without requests, which is then announced to end; 0: any time.
  Duration idle_timeout{0};
  RequestAcceptor* acceptor = nullptr;  // used only while the loops run
  // Dropped, or their requests, because they sent or read too slowly.
  std::atomic<uint64_t> slow_clients{0};
  std::atomic<uint64_t> abusive_clients{0};  // ended by FloodGuard or Keepalive
};

class Connection final : public transport::LoopConnection, public Peer, private SessionEvents {
 public:
  Connection(std::shared_ptr<ConnectionSettings> settings, std::shared_ptr<transport::IoLoop> loop,
             transport::Channel channel, BudgetUnits slot);
  ~Connection() override;

  // LoopConnection
  void Start() override;
  // Instead of Start: goes on in the place of `previous`, which has received `bytes` that are not
  // used yet, the client's preface or nothing.
  void Continue(transport::LoopConnection* previous, absl::string_view bytes);
  void Sweep(TimePoint now) override;
  void Announce() override;  // this connection ends with its last request
  void OnDrain() override;
  void Abort() override;
  std::optional<TimePoint> IdleSince() const override;
  void LetGo() override;
  void OnEndOfTurn() override;

  // Peer
  size_t open_streams() const override { return session_->open_streams(); }
  transport::Account* account() override { return session_->account(); }
  // Any thread.
  const std::shared_ptr<Holder>& holder() const { return session_->account()->holder(); }
  void CountSlowClient() override {
    settings_->slow_clients.fetch_add(1, std::memory_order_relaxed);
  }

  std::string address() const override { return channel_.peer(); }

  const std::shared_ptr<transport::IoLoop>& loop() const { return loop_; }
  bool announced() const { return session_->announced(); }

 private:
  // SessionEvents
  std::shared_ptr<StreamUser> OnRequest(const std::shared_ptr<Stream>& stream) override;
  bool OnHeadTooLarge(Stream* stream) override {
    return settings_->acceptor->OnHeadTooLarge(stream);
  }
  bool OnNoRoom(Stream* stream, const absl::Status& why) override {
    return settings_->acceptor->OnNoRoom(stream, why);
  }
  void OnOutput() override;
  void OnControlFrame() override;
  void OnPing(bool is_answer) override;
  void OnAnswerSent() override { keepalive_->AnswerSent(); }
  void OnRequestAnswered() override { flood_guard_->RequestAnswered(); }

  void ArmRead();
  void OnReadable();
  // Reads what has arrived; false if the connection is closed.
  bool ReadSome();
  // Where the next read goes; `place` is the session's.
  absl::Span<char> RoomFor(const DataPlace& place);
  void Begin(absl::string_view received);
  void Receive(absl::string_view bytes);
  void ArmWrite();
  void Flush();
  // Tells the client why, and ends.
  void Punish(absl::string_view why);
  // Once everything is sent: says that nothing more comes, and waits for the client to close. What
  // it still sends is read and dropped: a close with unread bytes would reset the connection, and
  // the client might never see why it has ended.
  void Linger();
  void KeepPace();
  // Whether no request was open for longer than it may be.
  bool IsIdle(TimePoint now);
  // Whether the client has to be dropped for what it does not send, or take.
  bool IsTooSlow(TimePoint now);
  void EndAnnouncement();
  void Close();
  std::shared_ptr<Connection> Self() {
    return std::static_pointer_cast<Connection>(shared_from_this());
  }

  const std::shared_ptr<ConnectionSettings> settings_;
  const std::shared_ptr<transport::IoLoop> loop_;  // before the channel, which needs its io_context
  transport::Channel channel_;
  BudgetUnits slot_;
  std::unique_ptr<Session> session_;
  OutputQueue output_;
  transport::Pace pace_;
  std::optional<Keepalive> keepalive_;
  std::optional<FloodGuard> flood_guard_;
  TimePoint begun_;
  TimePoint idle_since_;   // while no request is open; as precise as sweeps are
  bool used_ = false;      // a request has begun since the last sweep
  int32_t open_head_ = 0;  // as the session's, when it was last looked at
  TimePoint head_begun_;   // of open_head_
  uint64_t written_ = 0;
  bool read_in_place_ = false;  // the last read
  bool read_armed_ = false;
  bool write_armed_ = false;
  bool end_of_turn_asked_ = false;
  bool flushing_ = false;
  // The answer to the PING of the announcement is awaited until then.
  std::optional<TimePoint> announced_until_;
  bool ending_ = false;  // what is written is still sent, what arrives is dropped
  std::optional<TimePoint> lingers_until_;
  bool closed_ = false;
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_CONNECTION_H_
