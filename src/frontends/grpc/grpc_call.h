// SPDX-License-Identifier: Apache-2.0
// GrpcCall: one RPC as the gRPC protocol knows it, on an HTTP/2 stream: messages that arrive,
// messages and a status that are sent, the deadline, the end. What a method does is its subclass's.
//
// Kept alive by its stream until that is closed, and by whatever its subclass has begun. All
// methods run on the thread of the connection's loop unless they say otherwise.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_CALL_H_
#define NEREID_FRONTENDS_GRPC_GRPC_CALL_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "frontends/grpc/grpc_environment.h"
#include "frontends/grpc/large_message.h"
#include "frontends/grpc/out_message.h"
#include "frontends/grpc/wire/grpc_code.h"
#include "frontends/grpc/wire/message_compression.h"
#include "frontends/grpc/wire/message_decompression.h"
#include "frontends/grpc/wire/message_reader.h"
#include "frontends/transport/http2/connection.h"
#include "frontends/transport/http2/stream.h"
#include "frontends/transport/http2/window_pace.h"
#include "frontends/transport/loop_connection.h"
#include "frontends/transport/pace.h"
#include "frontends/transport/timer_queue.h"
#include "observe/access/access_log.h"

namespace nereid {

class GrpcCall : public http2::StreamUser,
                 public transport::Delivery,
                 public transport::Timer,
                 public std::enable_shared_from_this<GrpcCall> {
 public:
  // Where a call comes from.
  struct Origin {
    std::shared_ptr<GrpcEnvironment> environment;
    std::shared_ptr<http2::Connection> connection;
    std::shared_ptr<http2::Stream> stream;
    MessageLimit limit;  // of the method's messages
  };

  enum class Messages {
    kOne,   // the client sends one at once, and its library takes the answer as it comes
    kMany,  // they come and are taken when the client likes
  };

  explicit GrpcCall(Origin origin, Messages messages = Messages::kOne);

  // Reads the head of the call. False if the call was answered instead.
  bool ReadHead();

  // Whether a request is a gRPC call, by its method and content type.
  static bool IsCall(const http2::Stream& stream);
  // What answers a request that is not, as HTTP says. `why_no_rest`: why a request of REST is not
  // served; empty for others.
  static std::shared_ptr<http2::StreamUser> RefuseOther(http2::Stream* stream,
                                                        absl::string_view why_no_rest);
  // Answers a stream that is no call of a known method.
  static void Refuse(http2::Stream* stream, const absl::Status& error);

  // StreamUser
  void OnData(absl::string_view bytes) final;
  http2::DataPlace PlaceForData() final;
  void OnEndOfInput() final;
  void OnClosed(bool complete) final;
  void OnSweep(TimePoint now) override;  // subclasses call it first
  void OnAbort() final;
  // Delivery
  void OnDelivery() override {}
  // Timer: the deadline is over.
  void OnTimer() final;
  // Finishes `message`, on which another thread has worked, and goes on behind it.
  void Resume(LargeMessage* message);
  // Any thread.
  transport::IoLoop* loop() const { return connection().loop().get(); }

 protected:
  // The head of the call was read and is in order. Here a subclass can add metadata.
  virtual void OnBegin() {}
  // A message has arrived.
  virtual void OnMessage(std::shared_ptr<ReceivedBody> message) = 0;
  // A message was refused memory. `message` is null if it was too long to be read all the same.
  virtual void OnRefused(std::shared_ptr<ReceivedBody> message, const absl::Status& error) {
    Fail(error);
  }
  // The client sends no more messages.
  virtual void OnHalfClose() = 0;
  // The client has left or cancelled the call, its deadline is over, or Fail was called, which has
  // sent the status. Called at most once, and not for a call that SendStatus has ended.
  virtual void OnCancelled() {}
  // For lines of the log: the one inference request of the call; empty if it has none, or several.
  virtual LogAbout AboutRequest() const { return {}; }
  // The stream is closed. Called once.
  virtual void OnStreamClosed() {}
  // Whether the client may send more than what has arrived.
  virtual bool MayRead() { return true; }

  // ---- For subclasses.
  GrpcEnvironment& environment() const { return *origin_.environment; }
  http2::Connection& connection() const { return *origin_.connection; }
  http2::Stream* stream() const { return origin_.stream.get(); }
  absl::string_view header(absl::string_view name) const { return stream()->FindHeader(name); }
  // The status is sent or will never be.
  bool ended() const { return ended_; }
  // Any thread.
  bool OnLoop() const { return loop()->InLoop(); }
  void Deliver() { loop()->Deliver(shared_from_this()); }
  // Whether the message that was given to OnMessage last was compressed on its way.
  bool message_was_compressed() const { return message_was_compressed_; }
  // Adds metadata of the server's own: to the head, without effect once that is sent, or to what
  // ends the call. A `value` is any bytes if `name` ends in "-bin", otherwise printable ASCII.
  // REQUIRES: `name` is in lower case and none of HTTP or gRPC.
  void AddInitialMetadata(absl::string_view name, absl::string_view value);
  void AddTrailer(absl::string_view name, absl::string_view value);
  // Any thread that holds the call. The connection, as the one who holds units of the byte limit.
  const std::shared_ptr<Holder>& holder() const { return origin_.connection->holder(); }
  // Any thread that holds the call. Gives a model those metadata of the client that it is to get.
  absl::Status ForwardMetadata(InferRequest* request) const;
  // Any thread. How answers of the call are compressed, if the server compresses them.
  MessageCoding answer_coding() const { return answer_coding_; }
  // What the access log will say of the call; null: it says nothing.
  AccessEntry* access() { return access_.get(); }
  void CompressAnswersFor(GrpcCompression level) {
    answer_coding_ = ChooseMessageCoding(level, header("grpc-accept-encoding"));
  }

  // Sends a message; nothing if the call has ended. Its own bytes are paid for until they are on
  // their way; without memory for them the call ends.
  void SendMessage(OutMessage&& message);
  // The same for a message that somebody pays for until OnSent, or for which PayForAnswer has paid.
  void SendPaid(const OutMessage& message);
  // Pays for `bytes` of the next answer until they are on their way. UNAVAILABLE if there is no
  // memory. The first few bytes are part of the call's fixed cost.
  absl::Status PayForAnswer(uint64_t bytes);
  // Ends the call. `code` is that of `status`, unless the transport has another one.
  void SendStatus(const absl::Status& status) {
    SendStatus(GrpcCodeOfCore(status.code()), status.message());
  }
  void SendStatus(GrpcCode code, absl::string_view message);
  // Cancels what runs, and ends the call with an error of the transport.
  void Fail(const absl::Status& error);
  // Goes on with what has arrived after MayRead was false, and lets the client send on.
  void ReadOn();
  // For a message that an I/O thread had better leave alone: another thread does `work`, and then
  // the loop's does `finish`, also if the call has ended meanwhile. Until then nothing behind the
  // message is read. False if too much is waiting there: neither is called. REQUIRES: called while
  // a message is received.
  bool RunElsewhere(LargeMessage::Work work, std::function<void()> finish);
  // For a message that needs a model of which `error`, the server's, says that it is being loaded:
  // waits for it, and then the loop does `finish`, also if the call has ended meanwhile. Until then
  // nothing behind the message is read. False if it says no such thing, or the call has waited long
  // enough: `finish` is not called. REQUIRES: as for RunElsewhere, or called by `finish`.
  bool AwaitModel(const absl::Status& error, std::function<void()> finish);

 private:
  // Names and encoded values.
  using Fields = std::vector<std::pair<std::string, std::string>>;
  struct Metadata {
    Fields initial;
    Fields trailing;
  };
  Metadata* metadata();

  void BeginAccess(AccessLog* log);
  void EndAccess(GrpcCode code);
  void SendHead();
  // Whether the next message may be read now.
  bool MayReadNow() { return !ended_ && large_message_ == nullptr && MayRead(); }
  // Reads messages from `bytes` as long as MayReadNow says. Returns how many bytes it has read.
  size_t Read(absl::string_view bytes);
  void KeepUnread(absl::string_view bytes);
  // Lets the client send as many bytes as were read.
  void LetSend();
  void EndInput();
  void Receive(ReceivedMessageBytes received);
  // Ends the call if its message arrives too slowly.
  void KeepReadingPace(TimePoint now);
  void Decompress(std::shared_ptr<ReceivedBody> compressed);
  void DecompressElsewhere(std::unique_ptr<MessageDecompression> begun);
  // The call has ended.
  void DropLargeMessage();

  const Origin origin_;
  MessageReader reader_;
  MessageCoding coding_ = MessageCoding::kIdentity;  // of the client's messages
  MessageCoding answer_coding_ = MessageCoding::kIdentity;
  std::unique_ptr<Metadata> metadata_;   // null, as for most calls: none
  std::unique_ptr<AccessEntry> access_;  // null, as for most calls: not logged, or written already
  bool message_was_compressed_ = false;
  const Messages messages_;
  bool has_message_ = false;  // one has arrived
  // How long the present message may wait for its model; none: it has not begun to.
  std::optional<TimePoint> awaits_until_;
  // Pay for the objects of the call and its stream until that is closed: those of a call with one
  // message from its beginning, of others from their head.
  BudgetUnits call_units_;
  // Of answers' own bytes the stream may still have so many; it pays for them, as part of its
  // connection: a client with many small answers is one big holder.
  uint64_t answer_bytes_ = 0;
  uint64_t received_ = 0;  // bytes
  transport::Pace reading_pace_;
  http2::WindowPace writing_pace_;
  size_t unconsumed_ = 0;  // bytes received for which the client was not let go on
  // Is with another thread. Nothing behind it is read until it is back.
  std::shared_ptr<LargeMessage> large_message_;
  // Bytes that came while nothing could be read, and their units. The stream's window bounds them.
  std::string unread_;
  size_t unread_begin_ = 0;  // the first of them that is still unread
  BudgetUnits unread_units_;
  bool input_ended_ = false;  // behind unread_
  bool in_read_ = false;
  bool head_sent_ = false;
  bool ended_ = false;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_GRPC_CALL_H_
