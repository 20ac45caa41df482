// SPDX-License-Identifier: Apache-2.0
// Session: the HTTP/2 protocol of one connection, server side, without I/O: bytes go in, requests
// come out; answers go in, bytes come out. Frames, header compression and flow control are
// nghttp2's (RFC 9113, RFC 7541).
//
// Thread-compatible; owned by a connection and used on its loop's thread. Receive and Fill must not
// be called from inside a StreamUser.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_SESSION_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_SESSION_H_

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "frontends/transport/account.h"
#include "frontends/transport/http2/output_queue.h"
#include "frontends/transport/http2/stream.h"

struct nghttp2_session;

namespace nereid::http2 {

struct SessionOptions {
  uint32_t max_streams = 4096;            // requests of a connection open at a time
  uint32_t stream_window = 8 << 20;       // bytes of a body ahead of their Consume
  uint32_t connection_window = 64 << 20;  // the same for all bodies of a connection
  uint32_t max_frame_bytes = 1 << 20;     // of frames that the client may send
  size_t least_in_place = 16 << 10;       // a shorter rest of a frame has no place of its own
  uint32_t max_header_bytes = 64 << 10;   // of a request's head; beyond: 431
  size_t kept_streams = 8;                // finished ones whose memory is kept for the next
  uint32_t max_headers = 256;             // beyond: 431
  // Pays for open requests and their heads; beyond: REFUSED_STREAM. Must outlive the session; null:
  // nothing is paid for.
  Budget* budget = nullptr;
};

// What a stream costs without its body and without the part of its head beyond kFreeHeadBytes: the
// objects of the library, the session and the user. Measured (docs/adr/0014-limits.md).
inline constexpr uint64_t kStreamCost = 4 << 10;
inline constexpr size_t kFreeHeadBytes = 1 << 10;

// What a session tells its connection.
class SessionEvents {
 public:
  virtual ~SessionEvents() = default;
  // A request has begun: its head is complete. The result receives the rest of it; null if the
  // request is answered already and the rest of no interest.
  virtual std::shared_ptr<StreamUser> OnRequest(const std::shared_ptr<Stream>& stream) = 0;
  // A request whose head is too long, or has too many fields. False: it is answered with 431 and
  // nothing else.
  virtual bool OnHeadTooLarge(Stream* /*stream*/) { return false; }
  // A request for which there is no memory, as `why` says: answers it. False: it is reset.
  virtual bool OnNoRoom(Stream* /*stream*/, const absl::Status& /*why*/) { return false; }
  // The session has something to send, or to end.
  virtual void OnOutput() = 0;
  // A frame that costs the server work and the client nothing, or a stream that the client broke.
  virtual void OnControlFrame() {}
  virtual void OnPing(bool /*is_answer*/) {}
  // A head or data of an answer has gone out.
  virtual void OnAnswerSent() {}
  // A request was answered completely.
  virtual void OnRequestAnswered() {}
};

class Session {
 public:
  // `events` must outlive the session.
  Session(const SessionOptions& options, SessionEvents* events);
  // Closes the streams that are left.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Reads what has arrived. An error: this is not HTTP/2, or it is not worth an answer; the
  // connection should be closed. RESOURCE_EXHAUSTED if the client floods the server.
  absl::Status Receive(absl::string_view bytes);
  // Where the next bytes of the connection may be received, as far as it is known that they are of
  // a body: the rest of the frame of data that Receive has seen the beginning of. They are then
  // passed to Receive as any others.
  DataPlace PlaceForData() const;
  // Appends what is to be sent to `output`, until that holds `enough` bytes.
  void Fill(OutputQueue* output, size_t enough);

  // Whether the protocol has ended: nothing more is to be read or sent.
  bool ended() const;
  size_t open_streams() const { return streams_.size(); }
  // What the connection owes; the users of streams may add to it.
  transport::Account* account() { return &account_; }
  // Whether the client has begun to speak HTTP/2: its preface and its first frame are complete.
  bool begun() const { return begun_; }
  // The stream whose head has begun and is not complete; 0: none.
  int32_t open_head() const { return open_head_; }
  // Sends a PING that OnPing(true) answers.
  void SendPing();
  // Tells the client to use another connection: no further requests, those that are open go on.
  // Announced in two steps, so that no request on its way is lost; the second by EndAnnouncement.
  void Announce();
  bool announced() const { return announced_; }
  // The second step: requests that arrive from now on are refused, and the client may send them
  // again elsewhere.
  void EndAnnouncement();
  // Tells the client that the connection ends, with the reason. The owner closes it once that is
  // sent.
  void Terminate(ErrorCode code, absl::string_view debug);
  // Tells the users of all streams the time.
  void Sweep(TimePoint now);
  // Lets all streams say their last word, see StreamUser::OnAbort.
  void Abort();
  // Closes all streams without a word. Nothing is read or sent from then on. May be called from
  // inside a StreamUser or an event.
  void CloseStreams();

 private:
  friend class Stream;
  friend struct Callbacks;

  std::shared_ptr<Stream> Begin(int32_t id);
  void HeadComplete(Stream* stream, bool end);
  // Those of all streams, which may come and go while they are called.
  std::vector<std::shared_ptr<StreamUser>> Users() const;
  void Closed(int32_t id);
  void RefuseHead(Stream* stream);
  // There is no memory for the request, whose head is complete.
  void RefuseForRoom(Stream* stream);
  // Charges `bytes` more to `stream` until it is closed. False if the limit has no room, or had
  // none before.
  bool Charge(Stream* stream, uint64_t bytes);
  // Sees to it that `bytes` more of a head are paid for, and that there is room for them.
  bool MakeRoomInHead(Stream* stream, size_t bytes);
  // Counts bytes of a header that is not kept; the library's result of the callback.
  int Ignore(Stream* stream, size_t header_bytes);
  // Whether the client has ended or reset `id` and the stream was closed not long ago, so that
  // anything more of the request is an error (RFC 9113, 5.1).
  bool HasFinished(int32_t id) const;

  SessionEvents* const events_;
  const SessionOptions options_;
  transport::Account account_;
  nghttp2_session* session_ = nullptr;
  absl::flat_hash_map<int32_t, std::shared_ptr<Stream>> streams_;
  OutputQueue* output_ = nullptr;              // of the Fill under way
  size_t enough_ = 0;                          // of the same
  std::vector<std::shared_ptr<Stream>> sent_;  // their users are told at the end of the Fill
  std::vector<std::shared_ptr<Stream>> kept_;
  uint64_t data_sent_ = 0;  // bytes of bodies
  absl::Status no_room_;    // why a stream was refused last
  int refusals_ = 0;        // open streams that were answered so
  int32_t open_head_ = 0;
  int32_t data_stream_ = 0;  // of the last frame of data
  size_t data_left_ = 0;     // bytes of that frame which are still to come, if it is not ignored
  bool begun_ = false;
  bool flooded_ = false;                // with headers; the connection is to end
  std::array<int32_t, 16> finished_{};  // the last ones; 0 is no request
  size_t next_finished_ = 0;
  bool announced_ = false;
  bool closed_ = false;  // by CloseStreams
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_SESSION_H_
