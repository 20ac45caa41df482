// SPDX-License-Identifier: Apache-2.0
// RequestReader: turns the bytes of one connection into HttpRequests: applies the grammar and the
// limits, and places the body. Does no I/O. Owned by its connection's I/O thread.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_REQUEST_READER_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_REQUEST_READER_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <boost/beast/core/error.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frontends/http/http_server.h"
#include "frontends/http/transport/body_receiver.h"
#include "frontends/http/transport/head_parser.h"
#include "frontends/http/transport/refusal.h"
#include "frontends/transport/input_buffer.h"

namespace nereid::http {

class RequestReader {
 public:
  enum class Progress {
    kNeedMore,  // all usable bytes are consumed; DirectBody() says where more may go
    kComplete,  // TakeRequest() returns the request
    kFailed,    // answer with failure() and close: the boundaries of what follows are unknown
  };
  using Failure = Refusal;
  // What the answer depends on besides the handler. Valid once the head has arrived; after an
  // earlier failure, the values that suit any client.
  struct Traits {
    bool http11 = true;
    bool keep_alive = false;
    bool head_method = false;
  };

  // `options`, and `handler`, which is asked about each head, must outlive the reader. Without a
  // handler every head is taken.
  explicit RequestReader(const HttpServerOptions* options, HttpHandler* handler = nullptr,
                         std::shared_ptr<Holder> holder = nullptr);

  // Consumes as much as possible of `input`.
  Progress Consume(transport::InputBuffer* input);

  // The rest of a body of known length, to be received into directly; empty when there is none.
  absl::Span<char> DirectBody();
  // `n` bytes were received into the front of DirectBody().
  void DirectBodyReceived(size_t n) { body_.Received(n); }

  // True once per request whose client waits for "100 Continue" before it sends the body.
  bool TakeExpectContinue();

  bool head_done() const { return head_done_; }
  // Bytes of the body that have arrived.
  uint64_t body_bytes() const { return body_.received(); }
  // Releases the body of a failed request. REQUIRES: nothing is being received into it.
  void ReleaseBody() { body_.Drop(); }
  const Failure& failure() const { return failure_; }
  // Whether the request was complete before all of its body was read, because the handler does not
  // want it: nothing that follows is a request. Valid until TakeRequest.
  bool left_body() const { return left_body_; }
  const Traits& traits() const { return traits_; }

  // Returns the request, and makes the reader ready for the next. REQUIRES: Consume returned
  // kComplete.
  std::unique_ptr<HttpRequest> TakeRequest();

 private:
  Progress ReadHead(transport::InputBuffer* input);
  Progress BeginBody();
  // Of a request whose body nobody wants.
  Progress LeaveBody();
  Progress DropBody(transport::InputBuffer* input);
  Progress ReadSizedBody(transport::InputBuffer* input);
  Progress ReadChunks(transport::InputBuffer* input);
  // A chunk of `size` bytes is announced.
  bool BeginChunk(uint64_t size);
  Progress Fail(int status, std::string message);
  Progress FailHead(const boost::beast::error_code& error, const transport::InputBuffer& input);
  Progress FailBody();

  const HttpServerOptions* const options_;
  HttpHandler* const handler_;
  std::optional<HeadParser> parser_;
  size_t parsed_ = 0;  // bytes of the input that the parser has seen, while reading the head
  bool head_done_ = false;
  bool expect_continue_ = false;
  bool takes_body_ = true;  // the handler wants the body
  bool left_body_ = false;  // it does not, and not all of the body is read
  uint64_t to_drop_ = 0;    // bytes of a body that nobody wants that are still to come
  size_t chunk_count_ = 0;
  std::unique_ptr<HttpRequest> request_;
  BodyReceiver body_;
  Failure failure_;
  Traits traits_;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_REQUEST_READER_H_
