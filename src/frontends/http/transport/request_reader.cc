#include "frontends/http/transport/request_reader.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <limits>

namespace nereid::http {
namespace {

namespace beast_http = boost::beast::http;

constexpr uint64_t kMaxContentLength = std::numeric_limits<int32_t>::max();
constexpr size_t kMinChunkedCapacity = 4096;
constexpr absl::string_view kLastChunk = "0\r\n\r\n";
// The budget pays for a body in steps: the first is granted for the announcement alone, each
// further one is as large as what the client has sent so far, so that few are needed.
constexpr uint64_t kFirstStep = 64 << 10;
constexpr uint64_t kLargestStep = 1 << 20;

// Text of the first Content-Length in a head that the parser refused.
absl::string_view ContentLengthText(absl::string_view head) {
  while (!head.empty()) {
    const size_t end = head.find('\n');
    const absl::string_view line = head.substr(0, end);
    constexpr absl::string_view kName = "content-length:";
    if (absl::StartsWithIgnoreCase(line, kName)) {
      return absl::StripAsciiWhitespace(line.substr(kName.size()));
    }
    if (end == absl::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return "";
}

std::string ContentLengthError(absl::string_view text) {
  const bool number = !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  return absl::StrCat("Unable to parse Content-Length, ",
                      number ? "value is out of range [ -2147483648, 2147483647 ], " : "",
                      "got: ", text);
}

}  // namespace

RequestReader::RequestReader(const HttpServerOptions* options) : options_(options) {}

RequestReader::Progress RequestReader::Consume(InputBuffer* input) {
  if (!head_done_) {
    const Progress progress = ReadHead(input);
    if (progress != Progress::kComplete) return progress;
  }
  if (parser_->chunked()) return ReadChunks(input);
  return ReadSizedBody(input);
}

// kComplete if the head is complete and the body may begin.
RequestReader::Progress RequestReader::ReadHead(InputBuffer* input) {
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
  request_ = std::make_unique<HttpRequest>(std::string(input->data(), parsed_), parser_->method(),
                                           parser_->target(), parser_->headers());
  input->Consume(parsed_);
  return BeginBody();
}

RequestReader::Progress RequestReader::FailHead(const boost::beast::error_code& error,
                                                const InputBuffer& input) {
  if (error == beast_http::error::header_limit) {
    return Fail(431, absl::StrCat("request header exceeds the maximum of ",
                                  options_->max_header_bytes, " bytes"));
  }
  if (error == beast_http::error::bad_version) return Fail(505, "HTTP version is not supported");
  if (error == beast_http::error::bad_content_length) {
    return Fail(
        400, ContentLengthError(ContentLengthText(absl::string_view(input.data(), input.size()))));
  }
  return Fail(400, absl::StrCat("malformed HTTP request: ", error.message()));
}

RequestReader::Progress RequestReader::BeginBody() {
  if (const auto expect = request_->FindHeader("Expect"); expect.has_value()) {
    if (!absl::EqualsIgnoreCase(*expect, "100-continue")) {
      return Fail(417, absl::StrCat("unsupported expectation '", *expect, "'"));
    }
    expect_continue_ = traits_.http11;
  }
  // Without this check such a body would be taken for the next request.
  if (parser_->unsupported_transfer_encoding()) {
    return Fail(501, "Unsupported HTTP header 'Transfer-Encoding': only 'chunked' is supported");
  }
  if (parser_->chunked()) {
    if (!traits_.http11) return Fail(400, "Transfer-Encoding is not part of HTTP/1.0");
    return Progress::kComplete;
  }
  body_size_ = parser_->content_length().value_or(0);
  if (body_size_ > options_->max_body_bytes) {
    if (body_size_ > kMaxContentLength)
      return Fail(400, ContentLengthError(absl::StrCat(body_size_)));
    return Fail(413, BodySizeError(absl::StrCat(" of ", body_size_, " bytes")));
  }
  if (body_size_ == 0) return Progress::kComplete;
  if (FailTooLarge(body_size_)) return Progress::kFailed;
  body_ = HttpBody::Reserve(body_size_, AlignedBodyOffset());
  if (body_ == nullptr) return Fail(503, "out of memory for the request body");
  return Progress::kComplete;
}

RequestReader::Progress RequestReader::ReadSizedBody(InputBuffer* input) {
  while (body_ != nullptr && body_->size() < body_size_) {
    if (body_->room() == 0) {
      const uint64_t step = std::clamp<uint64_t>(body_->size(), kFirstStep, kLargestStep);
      const uint64_t more = std::min(body_size_ - body_->size(), step);
      std::optional<BudgetUnits> units = TakeUnits(more);
      if (!units.has_value()) return Progress::kFailed;
      body_->Grant(more, *std::move(units));
    }
    const size_t n = std::min(body_->room(), input->size());
    if (n == 0) return Progress::kNeedMore;
    std::memcpy(body_->mutable_end(), input->data(), n);
    body_->Extend(n);
    input->Consume(n);
  }
  return Progress::kComplete;
}

absl::Span<char> RequestReader::DirectBody() {
  if (!head_done_ || parser_->chunked() || body_ == nullptr) return {};
  return absl::MakeSpan(body_->mutable_end(), body_->room());
}

RequestReader::Progress RequestReader::ReadChunks(InputBuffer* input) {
  struct Receiver final : HeadParser::ChunkReceiver {
    explicit Receiver(RequestReader* reader) : reader(reader) {}
    bool OnChunk(uint64_t size) override { return reader->BeginChunk(size); }
    bool OnChunkData(const char* data, size_t size) override {
      return reader->AddChunkData(data, size);
    }
    RequestReader* const reader;
  } receiver(this);

  while (!parser_->is_done()) {
    if (input->empty()) return Progress::kNeedMore;
    // With assertions on, the parser fails if it sees a part of the last chunk twice.
    const bool between_chunks = body_bytes() == chunked_size_;
    if (between_chunks && *input->data() == '0' && input->size() < kLastChunk.size()) {
      return Progress::kNeedMore;
    }
    boost::beast::error_code error;
    input->Consume(parser_->PutChunked(input->data(), input->size(), &receiver, error));
    if (failure_.status != 0) return Progress::kFailed;
    if (error == beast_http::error::need_more) {
      // What is left is one line or the trailer, so it is subject to the limit of the header.
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
  if (size > options_->max_body_bytes - chunked_size_) {
    Fail(413, BodySizeError(""));
    return false;
  }
  chunked_size_ += size;
  return !FailTooLarge(chunked_size_);
}

bool RequestReader::AddChunkData(const char* data, size_t size) {
  const size_t have = body_ == nullptr ? 0 : body_->capacity();
  const size_t needed = (body_ == nullptr ? 0 : body_->size()) + size;
  if (needed > have) {
    // Grows with the bytes received, not with the bytes announced.
    const size_t capacity = std::max({kMinChunkedCapacity, 2 * have, needed});
    std::optional<BudgetUnits> units = TakeUnits(capacity - have);
    if (!units.has_value()) return false;
    bool grown = true;
    if (body_ == nullptr) {
      body_ = HttpBody::Reserve(capacity, AlignedBodyOffset());
      grown = body_ != nullptr;
    } else {
      grown = body_->Grow(capacity);
    }
    if (!grown) {
      Fail(503, "out of memory for the request body");
      return false;
    }
    body_->Grant(capacity - have, *std::move(units));
  }
  std::memcpy(body_->mutable_end(), data, size);
  body_->Extend(size);
  return true;
}

std::optional<BudgetUnits> RequestReader::TakeUnits(uint64_t bytes) {
  Budget* const budget = options_->body_budget;
  if (budget == nullptr) return BudgetUnits();
  const uint64_t held = body_ == nullptr ? 0 : body_->charged();
  // The first units also pay for the request itself.
  if (held == 0) bytes += options_->request_cost;
  auto units = budget->TakeFairly(bytes, held, ShareUse::kAdmission);
  if (units.ok()) return *std::move(units);
  Fail(503, std::string(units.status().message()));
  return std::nullopt;
}

// Waiting does not help: the budget could not pay for it even if no other client held anything.
bool RequestReader::FailTooLarge(uint64_t size) {
  const Budget* const budget = options_->body_budget;
  if (budget == nullptr) return false;
  const uint64_t most = budget->most_for_one(ShareUse::kAdmission);
  if (size <= most && options_->request_cost <= most - size) return false;
  Fail(413, absl::StrCat("request body of ", size, " bytes and ", options_->request_cost,
                         " for the request exceed the ", most,
                         " bytes that one request may take of "
                         "the server limit '",
                         budget->name(), "' of ", budget->limit(), ". Use ", budget->option(),
                         " to increase the limit."));
  return true;
}

size_t RequestReader::AlignedBodyOffset() const {
  if (options_->body_split_header.empty()) return 0;
  uint64_t offset = 0;
  const auto text = request_->FindHeader(options_->body_split_header);
  // The handler refuses a value that is not a number; here it only means no alignment.
  if (!text.has_value() || !absl::SimpleAtoi(*text, &offset)) return 0;
  return offset % HttpBody::kAlignment;
}

bool RequestReader::TakeExpectContinue() { return std::exchange(expect_continue_, false); }

std::string RequestReader::BodySizeError(absl::string_view size) const {
  return absl::StrCat("request body", size, " exceeds the maximum of ", options_->max_body_bytes,
                      " bytes. Use --http-max-body-size to increase the limit.");
}

RequestReader::Progress RequestReader::Fail(int status, std::string message) {
  failure_ = {status, std::move(message)};
  traits_.keep_alive = false;
  return Progress::kFailed;
}

std::unique_ptr<HttpRequest> RequestReader::TakeRequest() {
  if (body_ != nullptr) body_->Seal();
  request_->set_body(std::move(body_));
  parser_.reset();
  head_done_ = false;
  expect_continue_ = false;
  body_size_ = 0;
  chunk_count_ = 0;
  chunked_size_ = 0;
  return std::move(request_);
}

}  // namespace nereid::http
