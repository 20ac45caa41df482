// SPDX-License-Identifier: Apache-2.0
// Stream: one request of an HTTP/2 connection, from its head to its end, as the connection's side
// sees it; StreamUser: what a protocol on top of it does with the request.
//
// Everything here happens on the thread of the connection's loop.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_STREAM_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_STREAM_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/inline_text.h"
#include "frontends/transport/http2/output_queue.h"
#include "frontends/transport/http2/window_pace.h"

namespace nereid::http2 {

class Session;

struct Header {
  absl::string_view name;  // in lower case
  absl::string_view value;
  // Name and value outlive the connection, so that they need not be copied to be sent.
  bool lasting = false;
};

// Codes of RST_STREAM and GOAWAY (RFC 9113, section 7).
enum class ErrorCode : uint32_t {
  kNoError = 0,
  kProtocolError = 1,
  kInternalError = 2,
  kRefusedStream = 7,
  kCancel = 8,
  kEnhanceYourCalm = 11,
};

// Where the next bytes of a request's body may be received.
struct DataPlace {
  absl::Span<char> room;              // empty: nowhere in particular
  std::shared_ptr<const void> owner;  // keeps the memory
};

// The owner of a request. Its methods may call those of the stream. Kept alive by the stream until
// OnClosed, which is the last call.
class StreamUser {
 public:
  virtual ~StreamUser() = default;
  // Bytes of the body. The client may send as many again only once Stream::Consume was called. They
  // may lie in the last PlaceForData: at its beginning, where they need no copy, or behind that.
  virtual void OnData(absl::string_view bytes) = 0;
  // Where the user would put the next bytes, so that they can be received there.
  virtual DataPlace PlaceForData() { return {}; }
  // The client sends nothing more.
  virtual void OnEndOfInput() = 0;
  // All bytes of the body given to the stream so far have left it, after unsent() was not zero.
  virtual void OnSent() {}
  // Called now and then, for deadlines.
  virtual void OnSweep(TimePoint /*now*/) {}
  // The server waits no longer, and closes the connection after this call: what is to be answered
  // at all has to be answered inside it.
  virtual void OnAbort() {}
  // The stream is over: everything is sent, or the client or the connection has ended it.
  // `complete`: the answer was sent completely.
  virtual void OnClosed(bool complete) = 0;
};

class Stream final : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Session* session, int32_t id) : session_(session), id_(id) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // ---- The request.
  int32_t id() const { return id_; }
  // Value of the first header with that name, also of pseudo-headers such as ":path"; empty if
  // there is none.
  absl::string_view FindHeader(absl::string_view name) const;
  size_t header_count() const { return headers_.size(); }
  Header header(size_t i) const {
    const Range& range = headers_[i];
    const absl::string_view bytes = header_bytes_.view();
    return {bytes.substr(range.name, range.name_size), bytes.substr(range.value, range.value_size)};
  }
  // All names and values, into which those of FindHeader and header() point.
  absl::string_view head() const { return header_bytes_.view(); }
  // Frees the head, for a user that has a copy of it: from now on it has no headers.
  void DropHead();
  // Lets the client send `n` more bytes.
  void Consume(size_t n);
  // Releases `object` when the stream is closed. REQUIRES: not closed; called once.
  void KeepUntilClosed(std::shared_ptr<const void> object) { kept_ = std::move(object); }

  // ---- The answer. Nothing of this has an effect once the stream is closed.
  bool closed() const { return session_ == nullptr; }
  // Sends a head before that of the answer: "100". REQUIRES: SendHead was not called.
  void SendInterimHead(absl::string_view status);
  // Sends the head; with `end` it is the whole answer. REQUIRES: called once, before the rest.
  void SendHead(absl::Span<const Header> headers, bool end);
  // Has the connection's account pay for `bytes` of the answer, whatever it pays for now, until the
  // stream is closed. UNAVAILABLE if the byte limit has no room; it then pays for what it did.
  absl::Status PayForAnswer(uint64_t bytes);
  // Bytes of the body that are not yet on their way.
  size_t unsent() const { return body_.size(); }
  // The windows that the client has to open for the answer to go on.
  WindowState windows() const;
  // Appends to the body; Flush afterwards.
  void Append(absl::string_view bytes);
  void AppendOwned(std::string bytes);
  void AppendShared(absl::string_view bytes, std::shared_ptr<const void> owner);
  // Lets what was appended go.
  void Flush();
  // Ends the answer with `trailers`, after the body. REQUIRES: called once.
  void Finish(absl::Span<const Header> trailers);
  // Ends the stream at once.
  void Reset(ErrorCode code);

 private:
  friend class Session;
  friend struct Callbacks;
  struct Range {
    uint32_t name, name_size, value, value_size;
  };

  // Makes a finished stream a new one. REQUIRES: nobody else refers to it.
  void Reuse(Session* session, int32_t id);

  Session* session_;  // null once the stream is closed
  int32_t id_;
  std::shared_ptr<StreamUser> user_;  // until the stream is closed, as the next
  std::shared_ptr<const void> kept_;
  InlineText<384> header_bytes_;  // most heads need no further memory
  absl::InlinedVector<Range, 16> headers_;
  size_t head_room_ = 0;  // bytes of the head that are paid for
  uint64_t charged_ = 0;  // to the session's account, until the stream is closed, as next
  uint64_t answer_charged_ = 0;
  bool headers_refused_ = false;  // too many or too long
  bool refused_ = false;          // the byte limit has no room for the request
  bool head_dropped_ = false;     // nor for its head
  bool counts_as_refusal_ = false;
  size_t ignored_bytes_ = 0;  // of headers that were not kept

  OutputQueue body_;
  uint64_t sent_ = 0;  // bytes of the body on their way
  std::string trailer_bytes_;
  absl::InlinedVector<Range, 4> trailers_;
  bool head_sent_ = false;
  bool finishing_ = false;  // nothing more will be appended
  bool deferred_ = false;   // the library waits for more of the body
  bool emptied_ = false;    // the user is to be told so at the end of the Fill
  bool complete_ = false;   // the end of the answer was sent
  bool reset_ = false;
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_STREAM_H_
