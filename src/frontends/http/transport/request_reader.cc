// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/request_reader.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <utility>
#include <vector>

#include "frontends/http/transport/head_rules.h"

namespace nereid::http {
namespace {

namespace beast_http = boost::beast::http;

constexpr absl::string_view kLastChunk = "0\r\n\r\n";
// A body that nobody wants is read and dropped up to this size, so that the connection goes on.
// Behind a longer one it ends: the answer comes at once, and costs no more than the head.
constexpr uint64_t kMostDroppedBytes = 64 << 10;

// The values of the fields `name` ("content-length:") in a head that the parser has refused.
std::vector<absl::string_view> ValuesIn(absl::string_view head, absl::string_view name) {
  std::vector<absl::string_view> values;
  while (!head.empty() && head.front() != '\r') {
    const size_t end = head.find('\n');
    const absl::string_view line = head.substr(0, end);
    if (absl::StartsWithIgnoreCase(line, name)) {
      values.push_back(absl::StripAsciiWhitespace(line.substr(name.size())));
    }
    if (end == absl::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return values;
}

// What is wrong with the length of a body, by the head that the parser has refused for it.
std::string LengthError(absl::string_view head) {
  const std::vector<absl::string_view> lengths = ValuesIn(head, "content-length:");
  if (!lengths.empty() && !ValuesIn(head, "transfer-encoding:").empty()) {
    return "a request may have the header 'Content-Length' or 'Transfer-Encoding', but not both";
  }
  if (lengths.empty()) return "the header 'Transfer-Encoding' may stand in a request once";
  if (lengths.size() < 2) return ContentLengthError(lengths[0]);
  return absl::StrCat("the header 'Content-Length' may stand in a request once, ",
                      "but it is given as '", lengths[0], "' and as '", lengths[1], "'");
}

// Whether a line of `head` ends with LF alone.
bool HasBareLineFeed(absl::string_view head) {
  for (size_t i = head.find('\n'); i != absl::string_view::npos; i = head.find('\n', i + 1)) {
    if (i == 0 || head[i - 1] != '\r') return true;
    if (absl::EndsWith(head.substr(0, i + 1), "\r\n\r\n")) return false;
  }
  return false;
}

}  // namespace

RequestReader::RequestReader(const HttpServerOptions* options, HttpHandler* handler,
                             std::shared_ptr<Holder> holder)
    : options_(options), handler_(handler), body_(options, std::move(holder)) {}

RequestReader::Progress RequestReader::Consume(transport::InputBuffer* input) {
  if (!head_done_) {
    const Progress progress = ReadHead(input);
    if (progress != Progress::kComplete) return progress;
  }
  if (!takes_body_) return DropBody(input);
  if (parser_->chunked()) return ReadChunks(input);
  return ReadSizedBody(input);
}

// kComplete if the head is complete and the body may begin.
RequestReader::Progress RequestReader::ReadHead(transport::InputBuffer* input) {
  if (!parser_.has_value()) {
    // An empty line before the request line is tolerated, as RFC 9112 recommends.
    while (!input->empty() && (*input->data() == '\r' || *input->data() == '\n')) {
      input->Consume(1);
    }
    if (input->empty()) return Progress::kNeedMore;
    parser_.emplace(options_->max_header_bytes);
    parsed_ = 0;
    traits_ = Traits{};
  }
  while (!parser_->is_header_done()) {
    boost::beast::error_code error;
    parsed_ += parser_->PutHead(input->data(), parsed_, input->size() - parsed_, error);
    if (error == beast_http::error::need_more) {
      if (input->size() >= options_->max_header_bytes)
        error = beast_http::error::header_limit;
      else
        return Progress::kNeedMore;
    }
    if (error) return FailHead(error, *input);
  }
  head_done_ = true;
  traits_.http11 = parser_->http11();
  traits_.keep_alive = parser_->keep_alive();
  traits_.head_method = parser_->method() == HttpMethod::kHead;
  request_ =
      std::make_unique<HttpRequest>(absl::string_view(input->data(), parsed_), parser_->method(),
                                    parser_->target(), parser_->headers());
  request_->set_secure(options_->tls.enabled);
  if (options_->notes_times()) request_->set_received_ns(ToNanos(options_->clock->Now()));
  input->Consume(parsed_);
  return BeginBody();
}

RequestReader::Progress RequestReader::FailHead(const boost::beast::error_code& error,
                                                const transport::InputBuffer& input) {
  if (error == beast_http::error::header_limit) {
    return Fail(431, absl::StrCat("request header exceeds the maximum of ",
                                  options_->max_header_bytes, " bytes"));
  }
  const absl::string_view head(input.data(), input.size());
  if (error == beast_http::error::bad_content_length ||
      error == beast_http::error::multiple_content_length ||
      error == beast_http::error::bad_transfer_encoding) {
    return Fail(400, LengthError(head));
  }
  if (HasBareLineFeed(head)) {
    return Fail(400,
                "malformed HTTP request: lines must end with CR LF, but one ends with LF alone");
  }
  if (error == beast_http::error::bad_version) return Fail(505, "HTTP version is not supported");
  return Fail(400, absl::StrCat("malformed HTTP request: ", error.message()));
}

RequestReader::Progress RequestReader::BeginBody() {
  const HttpVersion version = traits_.http11 ? HttpVersion::k11 : HttpVersion::k10;
  if (std::optional<Refusal> refusal = CheckHead(*request_, version)) {
    return Fail(refusal->status, std::move(refusal->message));
  }
  Expectation expectation = ExpectationOf(*request_);
  if (expectation.refusal.has_value()) {
    return Fail(expectation.refusal->status, std::move(expectation.refusal->message));
  }
  expect_continue_ = expectation.awaits_continue && traits_.http11;
  // Without this check such a body would be taken for the next request.
  if (parser_->unsupported_transfer_encoding()) {
    return Fail(501, "Unsupported HTTP header 'Transfer-Encoding': only 'chunked' is supported");
  }
  if (parser_->chunked() && !traits_.http11) {
    return Fail(400, "Transfer-Encoding is not part of HTTP/1.0");
  }
  const HeadVerdict verdict =
      handler_ == nullptr ? HeadVerdict() : handler_->OnHead(request_.get());
  if (!verdict.takes_body) return LeaveBody();
  if (parser_->chunked()) {
    body_.BeginUnsized(*request_, verdict.limit);
    return Progress::kComplete;
  }
  if (!body_.BeginSized(*request_, verdict.limit, parser_->content_length().value_or(0))) {
    return FailBody();
  }
  return Progress::kComplete;
}

RequestReader::Progress RequestReader::LeaveBody() {
  takes_body_ = false;
  to_drop_ = parser_->content_length().value_or(0);
  // A client that waits for "100 Continue" may send the body all the same, or another request.
  left_body_ =
      parser_->chunked() || to_drop_ > kMostDroppedBytes || (expect_continue_ && to_drop_ > 0);
  expect_continue_ = false;
  if (!left_body_) return Progress::kComplete;
  to_drop_ = 0;
  traits_.keep_alive = false;
  return Progress::kComplete;
}

RequestReader::Progress RequestReader::DropBody(transport::InputBuffer* input) {
  const size_t n = std::min<uint64_t>(to_drop_, input->size());
  input->Consume(n);
  to_drop_ -= n;
  return to_drop_ == 0 ? Progress::kComplete : Progress::kNeedMore;
}

RequestReader::Progress RequestReader::ReadSizedBody(transport::InputBuffer* input) {
  while (!body_.complete()) {
    if (!body_.MakeRoom()) return FailBody();
    const absl::Span<char> room = body_.room();
    const size_t n = std::min(room.size(), input->size());
    if (n == 0) return Progress::kNeedMore;
    std::memcpy(room.data(), input->data(), n);
    body_.Received(n);
    input->Consume(n);
  }
  return Progress::kComplete;
}

absl::Span<char> RequestReader::DirectBody() {
  if (!head_done_ || !takes_body_ || parser_->chunked()) return {};
  return body_.room();
}

RequestReader::Progress RequestReader::ReadChunks(transport::InputBuffer* input) {
  struct Receiver final : HeadParser::ChunkReceiver {
    explicit Receiver(RequestReader* reader) : reader(reader) {}
    bool OnChunk(uint64_t size) override { return reader->BeginChunk(size); }
    bool OnChunkData(const char* data, size_t size) override {
      if (reader->body_.Append(absl::string_view(data, size))) return true;
      reader->FailBody();
      return false;
    }
    RequestReader* const reader;
  } receiver(this);

  while (!parser_->is_done()) {
    if (input->empty()) return Progress::kNeedMore;
    // If assertions are enabled, the parser must not see a part of the last chunk twice.
    const bool between_chunks = body_bytes() == body_.announced();
    if (between_chunks && *input->data() == '0' && input->size() < kLastChunk.size()) {
      return Progress::kNeedMore;
    }
    boost::beast::error_code error;
    input->Consume(parser_->PutChunked(input->data(), input->size(), &receiver, error));
    if (failure_.status != 0) return Progress::kFailed;
    if (error == beast_http::error::need_more) {
      // The rest is one line or the trailer, so the limit of the header applies.
      if (input->size() < options_->max_header_bytes) return Progress::kNeedMore;
      return Fail(431, absl::StrCat("chunk header or trailer exceeds the maximum of ",
                                    options_->max_header_bytes, " bytes"));
    }
    if (error) return Fail(400, absl::StrCat("malformed chunked body: ", error.message()));
  }
  return Progress::kComplete;
}

bool RequestReader::BeginChunk(uint64_t size) {
  if (++chunk_count_ > options_->max_chunks) {
    Fail(400, absl::StrCat("Chunked request body exceeds maximum of ", options_->max_chunks,
                           " non-empty chunks. Send fewer or larger HTTP chunks."));
    return false;
  }
  if (body_.Announce(size)) return true;
  FailBody();
  return false;
}

bool RequestReader::TakeExpectContinue() { return std::exchange(expect_continue_, false); }

RequestReader::Progress RequestReader::FailBody() {
  failure_ = body_.refusal();
  traits_.keep_alive = false;
  return Progress::kFailed;
}

RequestReader::Progress RequestReader::Fail(int status, std::string message) {
  failure_ = {status, std::move(message)};
  traits_.keep_alive = false;
  return Progress::kFailed;
}

std::unique_ptr<HttpRequest> RequestReader::TakeRequest() {
  request_->set_body(body_.Take());
  parser_.reset();
  head_done_ = false;
  expect_continue_ = left_body_ = false;
  takes_body_ = true;
  chunk_count_ = 0;
  return std::move(request_);
}

}  // namespace nereid::http
