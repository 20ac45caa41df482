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

#include "base/budget.h"
#include "frontends/http/http_server.h"
#include "frontends/http/transport/head_parser.h"
#include "frontends/http/transport/input_buffer.h"

namespace nereid::http {

class RequestReader {
 public:
  enum class Progress {
    kNeedMore,  // all usable bytes are consumed; DirectBody() says where more may go
    kComplete,  // TakeRequest() returns the request
    kFailed,    // answer with failure() and close: the boundaries of what follows are unknown
  };
  struct Failure {
    int status = 0;
    std::string message;
  };
  // What the answer depends on besides the handler. Valid once the head has arrived; after an
  // earlier failure, the values that suit any client.
  struct Traits {
    bool http11 = true;
    bool keep_alive = false;
    bool head_method = false;
  };

  // `options` must outlive the reader.
  explicit RequestReader(const HttpServerOptions* options);

  // Consumes as much as possible of `input`.
  Progress Consume(InputBuffer* input);

  // The rest of a body of known length, to be received into directly; empty when there is none.
  absl::Span<char> DirectBody();
  // `n` bytes were received into the front of DirectBody().
  void DirectBodyReceived(size_t n) { body_->Extend(n); }

  // True once per request whose client waits for "100 Continue" before it sends the body.
  bool TakeExpectContinue();

  bool head_done() const { return head_done_; }
  // Bytes of the body that have arrived.
  uint64_t body_bytes() const { return body_ == nullptr ? 0 : body_->size(); }
  // Releases the body of a failed request. REQUIRES: nothing is being received into it.
  void DropBody() { body_.reset(); }
  const Failure& failure() const { return failure_; }
  const Traits& traits() const { return traits_; }

  // Returns the request, and makes the reader ready for the next. REQUIRES: Consume returned
  // kComplete.
  std::unique_ptr<HttpRequest> TakeRequest();

 private:
  Progress ReadHead(InputBuffer* input);
  Progress BeginBody();
  Progress ReadSizedBody(InputBuffer* input);
  Progress ReadChunks(InputBuffer* input);
  // A chunk of `size` bytes is announced.
  bool BeginChunk(uint64_t size);
  bool AddChunkData(const char* data, size_t size);
  // Takes units for `bytes` more of the body; none if they are refused, which fails the request.
  std::optional<BudgetUnits> TakeUnits(uint64_t bytes);
  // Fails when the budget could never pay for a body of `size`.
  bool FailTooLarge(uint64_t size);
  // `size` is the part of the text about the size, with a leading blank, or empty.
  std::string BodySizeError(absl::string_view size) const;
  Progress Fail(int status, std::string message);
  Progress FailHead(const boost::beast::error_code& error, const InputBuffer& input);
  size_t AlignedBodyOffset() const;

  const HttpServerOptions* const options_;
  std::optional<HeadParser> parser_;
  size_t parsed_ = 0;  // bytes of the input that the parser has seen, while reading the head
  bool head_done_ = false;
  bool expect_continue_ = false;
  uint64_t body_size_ = 0;  // by Content-Length
  size_t chunk_count_ = 0;
  uint64_t chunked_size_ = 0;  // sum of the announced chunk sizes
  std::unique_ptr<HttpRequest> request_;
  std::shared_ptr<HttpBody> body_;
  Failure failure_;
  Traits traits_;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_REQUEST_READER_H_
