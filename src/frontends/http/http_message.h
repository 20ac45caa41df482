// HttpRequest, HttpResponse and HttpResponder: what the transport and the endpoints say to each
// other. No type of the HTTP library appears here.
//
// Thread rules: HttpRequest is immutable once the handler has it; HttpResponse is a plain value;
// HttpResponder may be completed on any thread.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_MESSAGE_H_
#define NEREID_FRONTENDS_HTTP_HTTP_MESSAGE_H_

#include <absl/container/inlined_vector.h>
#include <absl/functional/any_invocable.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "frontends/http/http_body.h"
#include "frontends/http/http_body_stream.h"

namespace nereid {

enum class HttpMethod : uint8_t { kGet, kHead, kPost, kOther };

struct HttpHeader {
  absl::string_view name;
  absl::string_view value;
};

// One received request. Owns the bytes that all its views point into and does not move: it is
// handed on by unique_ptr.
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

  // Takes the bytes of the head and where its parts are. REQUIRES: all ranges lie in `head`.
  HttpRequest(std::string head, HttpMethod method, Range target,
              absl::Span<const HeaderRange> headers);
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  HttpMethod method() const { return method_; }
  // The target as sent (still percent-encoded) without query, scheme and authority.
  absl::string_view path() const { return path_; }
  absl::Span<const HttpHeader> headers() const { return headers_; }
  // Value of the first header of that name (case does not matter), without surrounding blanks.
  std::optional<absl::string_view> FindHeader(absl::string_view name) const;

  // Null when the request came without a body. May be kept longer than the request.
  const std::shared_ptr<HttpBody>& body() const { return body_; }
  absl::string_view body_text() const {
    return body_ == nullptr ? absl::string_view() : body_->text();
  }
  // For whoever assembles the request.
  void set_body(std::shared_ptr<HttpBody> body) { body_ = std::move(body); }

 private:
  const std::string head_;
  const HttpMethod method_;
  absl::string_view path_;
  absl::InlinedVector<HttpHeader, 12> headers_;
  std::shared_ptr<HttpBody> body_;
};

// A piece of a response body that somebody else owns. Nothing is copied; `owner` is let go of on
// the connection's I/O thread when the piece has been handed to the kernel.
struct HttpChunk {
  const void* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

struct HttpResponse {
  int status = 200;
  std::string content_type;  // empty: no Content-Type header
  // Further headers. Content-Length and Connection are the transport's business.
  std::vector<std::pair<std::string, std::string>> headers;
  // The body is `text` followed by `chunks`, written together with the header in one vectored
  // write.
  std::string text;
  absl::InlinedVector<HttpChunk, 2> chunks;
  // Instead of `text` and `chunks`: a body that is sent while it is made, in chunked transfer, or
  // up to the end of the connection for clients of HTTP/1.0. The request can be cancelled until it
  // has ended; who takes the response aborts it when the client is gone.
  std::shared_ptr<HttpBodyStream> body_stream;
  BudgetUnits units;  // what pays for the memory of `text`
};

// {"error":"<message>"} as application/json.
HttpResponse MakeErrorResponse(int status, absl::string_view message);

class InlineTurn;

// Where a response goes: a connection, or a test. Thread rules as for HttpResponder.
class HttpResponseSink {
 public:
  virtual ~HttpResponseSink() = default;
  virtual void Complete(HttpResponse response) = 0;
  virtual void CompleteWith(absl::AnyInvocable<HttpResponse()> make) = 0;
  virtual void SetOnCancel(absl::AnyInvocable<void()> on_cancel) = 0;
  virtual InlineTurn* inline_turn() { return nullptr; }
};

// The duty to answer one request, exactly once. Move-only. If it is destroyed unanswered the
// client gets a 500, so that no path can leave a connection hanging.
class HttpResponder {
 public:
  explicit HttpResponder(std::shared_ptr<HttpResponseSink> sink) : sink_(std::move(sink)) {}
  HttpResponder(HttpResponder&&) = default;
  HttpResponder& operator=(HttpResponder&& other) noexcept;
  ~HttpResponder() { Abandon(); }

  // Any thread; does not block. The response is sent by the connection's I/O thread, or dropped
  // if the connection is gone. REQUIRES: not completed yet.
  void Complete(HttpResponse response);

  // As Complete, but the response is made by `make` on the connection's I/O thread, so that the
  // calling thread, which may belong to a model, does not spend its time on writing JSON. If the
  // connection is gone `make` is destroyed without a call.
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make);

  // `on_cancel` runs on the I/O thread, at most once, if the client goes away or the server
  // gives up waiting before the response is there, and all of it if that is made piece by piece. It
  // is destroyed on the I/O thread. REQUIRES: called inside HttpHandler::Handle on its thread.
  void SetOnCancel(absl::AnyInvocable<void()> on_cancel) {
    sink_->SetOnCancel(std::move(on_cancel));
  }

  // The turn of the I/O thread; null where it has none. REQUIRES: as for SetOnCancel.
  InlineTurn* inline_turn() { return sink_->inline_turn(); }

 private:
  void Abandon();
  std::shared_ptr<HttpResponseSink> sink_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_MESSAGE_H_
