// SPDX-License-Identifier: Apache-2.0
// HttpRequest, HttpResponse and HttpResponder: the messages between the transport and the
// endpoints. No type of the HTTP library appears here.
//
// Thread rules: HttpRequest is immutable once the handler has it; HttpResponse is a plain value;
// HttpResponder may be completed on any thread.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_MESSAGE_H_
#define NEREID_FRONTENDS_HTTP_HTTP_MESSAGE_H_

#include <absl/container/inlined_vector.h>
#include <absl/functional/any_invocable.h>
#include <absl/functional/function_ref.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/inline_text.h"
#include "base/log.h"
#include "frontends/codec/received_body.h"
#include "frontends/http/http_body_stream.h"
#include "frontends/http/router.h"

namespace nereid {

enum class HttpMethod : uint8_t { kGet, kHead, kPost, kDelete, kOptions, kOther };
// "GET" and so on, "OTHER".
const char* HttpMethodName(HttpMethod method);

struct HttpHeader {
  absl::string_view name;
  absl::string_view value;
};

struct HttpResponse;

// Changes an answer on its way. Lives as long as the program.
using AnswerForm = void (*)(HttpResponse* response);

// The most that a request's route takes as a body, and what is said of more.
struct BodyLimit {
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
  int status = 413;
  // `size`: the announced size, or none if the body has no Content-Length and has become too long.
  std::string (*error)(std::optional<uint64_t> size, uint64_t limit) = nullptr;
  // Of whatever is said of the body; null: that of MakeErrorResponse.
  AnswerForm form = nullptr;
};

// One received request. Owns the bytes that all its views point into and does not move: it is
// passed on by unique_ptr.
class HttpRequest {
 public:
  // Parts of the head, as positions in its bytes.
  struct Range {
    uint32_t offset = 0;
    uint32_t size = 0;
  };
  struct HeaderRange {
    Range name;
    Range value;
  };

  // Copies the bytes of the head and takes the positions of its parts. `authority`: what HTTP/2
  // says beside the target; none in HTTP/1. REQUIRES: all ranges are within `head`.
  HttpRequest(absl::string_view head, HttpMethod method, Range target,
              absl::Span<const HeaderRange> headers, Range authority);
  HttpRequest(absl::string_view head, HttpMethod method, Range target,
              absl::Span<const HeaderRange> headers)
      : HttpRequest(head, method, target, headers, Range()) {}
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  HttpMethod method() const { return method_; }
  // The target as sent (still percent-encoded) without query, scheme and authority.
  absl::string_view path() const { return path_; }
  // What stands behind the '?' of the target, as sent; empty if nothing does.
  absl::string_view query() const { return query_; }
  // The host and port that the client asks for: the authority of HTTP/2 or of a target in absolute
  // form, which takes the place of the Host header (RFC 9112, 3.2.2), otherwise that header; empty
  // if there is none.
  absl::string_view authority() const {
    return authority_.empty() ? FindHeader("Host").value_or("") : authority_;
  }
  // Whether the request came over TLS.
  bool secure() const { return secure_; }
  absl::Span<const HttpHeader> headers() const { return headers_; }
  // Value of the first header with that name (ignoring case), without surrounding blanks.
  std::optional<absl::string_view> FindHeader(absl::string_view name) const;

  // Null if the request came without a body. May outlive the request.
  const std::shared_ptr<ReceivedBody>& body() const { return body_; }
  absl::string_view body_text() const {
    return body_ == nullptr ? absl::string_view() : body_->text();
  }
  // When the head had arrived, in nanoseconds of the steady clock; 0: nobody wanted to know.
  uint64_t received_ns() const { return received_ns_; }
  // For the code that assembles the request.
  void set_received_ns(uint64_t time_ns) { received_ns_ = time_ns; }
  void set_secure(bool secure) { secure_ = secure; }
  void set_body(std::shared_ptr<ReceivedBody> body) { body_ = std::move(body); }
  // The route to which the handler has admitted the request when its head was there; none if it was
  // not asked, or has refused. Points into the path.
  const std::optional<RouteMatch>& route() const { return route_; }
  void set_route(const RouteMatch& route) { route_ = route; }

 private:
  const InlineText<512> head_;  // most heads need no further memory
  const HttpMethod method_;
  bool secure_ = false;
  absl::string_view authority_;  // without that of the Host header
  absl::string_view path_;
  absl::string_view query_;
  absl::InlinedVector<HttpHeader, 12> headers_;
  std::shared_ptr<ReceivedBody> body_;
  uint64_t received_ns_ = 0;
  std::optional<RouteMatch> route_;
};

// A piece of a response body in memory that `owner` keeps alive. Nothing is copied; `owner` is
// released on the connection's I/O thread once the kernel has taken the piece.
struct HttpChunk {
  const void* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

struct HttpResponse {
  int status = 200;
  // Lives as long as the program. Empty: no Content-Type header.
  absl::string_view content_type;
  // Further headers; the names live as long as the program. The transport adds Content-Length and
  // Connection.
  absl::InlinedVector<std::pair<absl::string_view, std::string>, 2> headers;
  // The body is `text` followed by `chunks`, written together with the header in one vectored
  // write.
  std::string text;
  absl::InlinedVector<HttpChunk, 2> chunks;
  // Instead of `text` and `chunks`: a body that is sent while it is produced, in chunked transfer
  // or, for clients of HTTP/1.0, up to the end of the connection. The request can be cancelled
  // until the body has ended; the response's receiver aborts the body if the client has gone.
  std::shared_ptr<HttpBodyStream> body_stream;
  BudgetUnits units;  // pay for the memory of `text`
  // Released when all was sent, or can no longer be. Mostly null.
  std::shared_ptr<const void> kept;
};

// {"error":"<message>"} as application/json.
HttpResponse MakeErrorResponse(int status, absl::string_view message);

class InlineTurn;

// Where a request comes from.
struct HttpOrigin {
  std::string peer;           // address and port of the client
  const char* protocol = "";  // "HTTP/1.1" or "HTTP/2"
};

// Where a response goes: a connection, or a test. Thread rules as for HttpResponder.
class HttpResponseSink {
 public:
  virtual ~HttpResponseSink() = default;
  virtual void Complete(HttpResponse response) = 0;
  virtual void CompleteWith(absl::AnyInvocable<HttpResponse()> make) = 0;
  virtual void SetOnCancel(absl::AnyInvocable<void()> on_cancel) = 0;
  virtual std::function<void()> PutOff(absl::AnyInvocable<void()> go_on) = 0;
  // Adds a header to the response, whoever makes it. `name` lives as long as the program.
  virtual void AddHeader(absl::string_view name, std::string value) = 0;
  virtual InlineTurn* inline_turn() { return nullptr; }
  virtual uint64_t other_requests() const { return 0; }
  virtual std::shared_ptr<Holder> holder() { return nullptr; }
  virtual HttpOrigin origin() const { return {}; }
  virtual void NoteRequest(absl::FunctionRef<LogAbout()> /*about*/) {}
};

// Sees the answer to one request on its way. Used by one thread at a time, and destroyed unasked if
// the client leaves before the answer is there.
class HttpAnswerObserver {
 public:
  virtual ~HttpAnswerObserver() = default;
  // As HttpResponder::NoteRequest.
  virtual void NoteRequest(absl::FunctionRef<LogAbout()> /*about*/) {}
  // The answer is made; `response` may be changed. At most once.
  virtual void OnAnswer(HttpResponse* response) = 0;
};

// The duty to answer one request, exactly once. Move-only. If it is destroyed unanswered the
// client gets a 500, so that no path can leave a connection hanging.
class HttpResponder {
 public:
  explicit HttpResponder(std::shared_ptr<HttpResponseSink> sink) : sink_(std::move(sink)) {}
  HttpResponder(HttpResponder&&) = default;
  HttpResponder& operator=(HttpResponder&& other) noexcept;
  ~HttpResponder() { Abandon(); }

  // Any thread; does not block. The connection's I/O thread sends the response, or drops it if the
  // connection is gone. REQUIRES: not completed yet.
  void Complete(HttpResponse response);

  // As Complete, but `make` builds the response on the connection's I/O thread, so that the calling
  // thread, which may belong to a model, spends no time on writing JSON. If the connection is gone,
  // `make` is destroyed without being called.
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make);

  // `on_cancel` runs on the I/O thread, at most once, if the client leaves or the server stops
  // waiting before the response is there (completely, if it is produced piece by piece). It is
  // destroyed on the I/O thread. REQUIRES: called inside HttpHandler::Handle on its thread.
  void SetOnCancel(absl::AnyInvocable<void()> on_cancel) {
    sink_->SetOnCancel(std::move(on_cancel));
  }

  // The request is not handled yet. Any thread may call the function that this returns, also more
  // than once; then `go_on` runs once on the I/O thread, which then is in the situation of
  // HttpHandler::Handle with a responder for the request. If the client leaves before that, `go_on`
  // is destroyed uncalled, on that thread. REQUIRES: as for SetOnCancel.
  std::function<void()> PutOff(absl::AnyInvocable<void(HttpResponder)> go_on);

  // Adds a header to the response, whichever it will be. `name` lives as long as the program.
  // REQUIRES: as for SetOnCancel.
  void AddHeader(absl::string_view name, std::string value) {
    sink_->AddHeader(name, std::move(value));
  }

  // The turn of the I/O thread; null if it has none. REQUIRES: as for SetOnCancel.
  InlineTurn* inline_turn() { return sink_->inline_turn(); }
  // Requests that the client has open on the same connection besides this one. REQUIRES: as for
  // SetOnCancel.
  uint64_t other_requests() const { return sink_->other_requests(); }
  // The client, as the one who holds units of the byte limit; null if it is not known. REQUIRES: as
  // for SetOnCancel.
  std::shared_ptr<Holder> holder() const { return sink_->holder(); }
  // REQUIRES: as for SetOnCancel.
  HttpOrigin origin() const { return sink_->origin(); }
  // Tells the logs which inference request it is that is answered. REQUIRES: not completed yet, and
  // no other thread may complete it meanwhile.
  void NoteRequest(absl::FunctionRef<LogAbout()> about);

  // Shows the answer to `observer` before it goes to those that were added earlier. REQUIRES: not
  // completed yet.
  void Add(std::unique_ptr<HttpAnswerObserver> observer) {
    observers_.push_back(std::move(observer));
  }

 private:
  using Observers = std::vector<std::unique_ptr<HttpAnswerObserver>>;

  static void Show(const Observers& observers, HttpResponse* response);
  void Abandon();

  std::shared_ptr<HttpResponseSink> sink_;
  Observers observers_;  // mostly none
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_MESSAGE_H_
