// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/http2_exchange.h"

#include <absl/container/inlined_vector.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "frontends/http/transport/head_rules.h"
#include "frontends/http/transport/response_head.h"
#include "frontends/transport/http2/connection.h"

namespace nereid::http {
namespace {

// Shorter parts of an answer are copied between its frames, which costs less than to refer to them.
constexpr size_t kMostCopiedBytes = 4096;

HttpMethod MethodOf(absl::string_view method) {
  if (method == "GET") return HttpMethod::kGet;
  if (method == "HEAD") return HttpMethod::kHead;
  if (method == "POST") return HttpMethod::kPost;
  if (method == "DELETE") return HttpMethod::kDelete;
  return method == "OPTIONS" ? HttpMethod::kOptions : HttpMethod::kOther;
}

// The request without its body. Fields that stand for parts of the request line are no headers.
std::unique_ptr<HttpRequest> ReadHead(const http2::Stream& stream) {
  const absl::string_view head = stream.head();
  const auto place = [head](absl::string_view text) {
    if (text.empty()) return HttpRequest::Range{};
    return HttpRequest::Range{static_cast<uint32_t>(text.data() - head.data()),
                              static_cast<uint32_t>(text.size())};
  };
  absl::InlinedVector<HttpRequest::HeaderRange, 16> headers;
  for (size_t i = 0; i < stream.header_count(); ++i) {
    const http2::Header header = stream.header(i);
    if (header.name.front() == ':') continue;
    headers.push_back({place(header.name), place(header.value)});
  }
  return std::make_unique<HttpRequest>(head, MethodOf(stream.FindHeader(":method")),
                                       place(stream.FindHeader(":path")), headers,
                                       place(stream.FindHeader(":authority")));
}

// Appends `bytes`, which `owner` keeps alive.
void AppendPart(http2::Stream* stream, absl::string_view bytes,
                const std::shared_ptr<const void>& owner) {
  if (bytes.size() <= kMostCopiedBytes) {
    stream->Append(bytes);
  } else {
    stream->AppendShared(bytes, owner);
  }
}

}  // namespace

Http2Exchange::Http2Exchange(std::shared_ptr<const Http2ExchangeSettings> settings,
                             std::shared_ptr<transport::IoLoop> loop,
                             std::shared_ptr<http2::Peer> peer,
                             std::shared_ptr<http2::Stream> stream)
    : ResponseReceiver(std::move(loop)),
      settings_(std::move(settings)),
      peer_(std::move(peer)),
      stream_(std::move(stream)),
      body_(&settings_->options, peer_->account()->holder()),
      reading_pace_(options().stall_timeout, options().min_bytes_per_second),
      writing_pace_(options().stall_timeout, options().min_bytes_per_second) {}

// ---- The request

void Http2Exchange::Begin() {
  // In HTTP/1.1 a target may name a host. Here that would be another one than the authority.
  const absl::string_view path = stream_->FindHeader(":path");
  const bool is_path = absl::StartsWith(path, "/") || path == "*";
  request_ = ReadHead(*stream_);
  stream_->DropHead();
  if (options().notes_times()) request_->set_received_ns(ToNanos(options().clock->Now()));
  request_->set_secure(options().tls.enabled);
  is_head_ = request_->method() == HttpMethod::kHead;
  if (!is_path) return Refuse({400, "':path' has to begin with '/'"});
  if (const auto refusal = CheckHead(*request_, HttpVersion::k2)) return Refuse(*refusal);
  const Expectation expectation = ExpectationOf(*request_);
  if (expectation.refusal.has_value()) return Refuse(*expectation.refusal);
  const HeadVerdict verdict = settings_->handler->OnHead(request_.get());
  if (!verdict.takes_body) return Run();
  if (!BeginBody(verdict.limit)) return Refuse(body_.refusal());
  if (expectation.awaits_continue) stream_->SendInterimHead("100");
}

bool Http2Exchange::BeginBody(const BodyLimit& limit) {
  uint64_t size = 0;
  const auto length = request_->FindHeader("content-length");
  // Only numbers get here, and the library compares them with what arrives.
  if (length.has_value() && absl::SimpleAtoi(*length, &size)) {
    return body_.BeginSized(*request_, limit, size);
  }
  body_.BeginUnsized(*request_, limit);
  return true;
}

void Http2Exchange::OnData(absl::string_view bytes) {
  const std::shared_ptr<Http2Exchange> keep = shared_from_this();
  if (state_ == State::kReceiving && !body_.AppendArrived(bytes)) Refuse(body_.refusal());
  stream_->Consume(bytes.size());
}

http2::DataPlace Http2Exchange::PlaceForData() {
  if (state_ != State::kReceiving) return {};
  return {body_.room(), body_.body()};
}

void Http2Exchange::OnEndOfInput() {
  if (state_ != State::kReceiving) return;
  request_->set_body(body_.Take());
  Run();
}

void Http2Exchange::Run() {
  reading_pace_.End();
  state_ = State::kRunning;
  Handle(settings_->handler, std::move(request_));
}

void Http2Exchange::Refuse(const Refusal& refusal) {
  HttpResponse response = refusal.Response();
  request_.reset();
  body_.Drop();
  SetResponse(std::move(response));
  OnResponse();
}

void Http2Exchange::NoteRequest(absl::FunctionRef<LogAbout()> about) {
  if (Log::IsVerboseEnabled(1)) about_ = about();
}

// ---- The response

void Http2Exchange::OnResponse() {
  state_ = State::kAnswering;
  const bool streamed = response().body_stream != nullptr && !is_head_;
  SendHead(/*end=*/is_head_ || (!streamed && BodySize(response()) == 0));
  if (is_head_) return FinishResponse();
  if (!streamed) return SendBody();
  AttachBody();
  SendMoreBody();
}

void Http2Exchange::SendHead(bool end) {
  const std::string status = absl::StrCat(response().status);
  const std::string length = absl::StrCat(BodySize(response()));
  std::vector<std::string> names;
  names.reserve(response().headers.size());  // the headers point into it
  absl::InlinedVector<http2::Header, 6> headers = {{":status", status}};
  if (response().body_stream == nullptr) headers.push_back({"content-length", length});
  if (!response().content_type.empty()) {
    headers.push_back({"content-type", response().content_type});
  }
  for (const auto& [name, value] : response().headers) {
    if (!IsSafeHeader(name, value)) continue;
    names.push_back(absl::AsciiStrToLower(name));
    headers.push_back({names.back(), value});
  }
  stream_->SendHead(headers, end);
}

void Http2Exchange::SendBody() {
  const auto text = std::make_shared<HttpResponse>();
  text->text = std::move(mutable_response()->text);
  text->units = std::move(mutable_response()->units);
  kept_ = std::move(mutable_response()->kept);
  AppendPart(stream_.get(), text->text, text);
  for (const HttpChunk& chunk : response().chunks) {
    AppendPart(stream_.get(), absl::string_view(static_cast<const char*>(chunk.data), chunk.size),
               chunk.owner);
  }
  stream_->Finish({});
  FinishResponse();
}

void Http2Exchange::SendMoreBody() {
  const auto taken = std::make_shared<HttpBodyStream::Taken>(response().body_stream->Take());
  for (const HttpBodyStream::Piece& piece : taken->pieces) {
    stream_->AppendShared(piece.text, taken);
  }
  body_done_ = taken->ended;
  if (body_done_) {
    stream_->Finish({});
  } else {
    stream_->Flush();
  }
}

void Http2Exchange::OnMoreBody() {
  // What is on its way is followed by more when it has been sent.
  if (state_ == State::kAnswering && !body_done_ && stream_->unsent() == 0) SendMoreBody();
}

void Http2Exchange::OnSent() {
  if (state_ == State::kAnswering && response().body_stream != nullptr && !body_done_) {
    SendMoreBody();
  }
}

// ---- The end

void Http2Exchange::OnClosed(bool complete) {
  state_ = State::kClosed;
  kept_.reset();
  ReturnText();
  if (complete) FinishResponse();
  body_.Drop();
  Leave();
}

void Http2Exchange::OnSweep(TimePoint now) {
  const std::shared_ptr<Http2Exchange> keep = shared_from_this();
  if (state_ == State::kReceiving) KeepReadingPace(now);
  if (writing_pace_.Check(now, stream_->windows()) &&
      !(loop().draining() && writing_pace_.StalledFor(now, transport::kEndingStall))) {
    return;
  }
  LOG_VERBOSE(1) << about_ << "resetting a request whose client does not read its answer";
  peer_->CountSlowClient();
  stream_->Reset(http2::ErrorCode::kCancel);
}

void Http2Exchange::OnAbort() {
  const std::shared_ptr<Http2Exchange> keep = shared_from_this();
  if (state_ == State::kReceiving) Refuse({503, kStoppedReading});
}

void Http2Exchange::KeepReadingPace(TimePoint now) {
  if (!reading_pace_.under_way()) reading_pace_.Begin(now, body_.received());
  reading_pace_.Moved(now, body_.received());
  if (now < reading_pace_.deadline()) return;
  peer_->CountSlowClient();
  Refuse({408, SlowBodyError(reading_pace_, options())});
}

// ---- Http2Acceptor

std::shared_ptr<http2::StreamUser> Http2Acceptor::OnRequest(
    const std::shared_ptr<http2::Stream>& stream,
    const std::shared_ptr<http2::Connection>& connection) {
  auto exchange =
      std::make_shared<Http2Exchange>(settings_, connection->loop(), connection, stream);
  exchange->Begin();
  return exchange;
}

namespace {

void RefuseUnread(http2::Stream* stream, int status, absl::string_view why) {
  const HttpResponse refusal = MakeErrorResponse(status, why);
  const std::string code = absl::StrCat(status);
  const std::string length = absl::StrCat(refusal.text.size());
  const std::array<http2::Header, 3> head = {
      {{":status", code}, {"content-type", "application/json", true}, {"content-length", length}}};
  stream->SendHead(head, /*end=*/false);
  stream->Append(refusal.text);
  stream->Finish({});
}

}  // namespace

bool Http2Acceptor::OnHeadTooLarge(http2::Stream* stream) {
  RefuseUnread(
      stream, 431,
      absl::StrCat("request header exceeds the maximum of ", settings_->options.max_header_bytes,
                   " bytes or ", http2::SessionOptions().max_headers, " fields"));
  return true;
}

bool Http2Acceptor::OnNoRoom(http2::Stream* stream, const absl::Status& why) {
  RefuseUnread(stream, 503, why.message());
  return true;
}

}  // namespace nereid::http

namespace nereid {

std::shared_ptr<http2::RequestAcceptor> MakeHttp2Acceptor(const HttpServerOptions& options,
                                                          HttpHandler* handler) {
  return std::make_shared<http::Http2Acceptor>(options, handler);
}

}  // namespace nereid
