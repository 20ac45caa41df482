// SPDX-License-Identifier: Apache-2.0
// Requests over HTTP/2 from frames to the handler and back, without sockets.
#include "frontends/http/transport/http2_exchange.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontends/http/transport/head_rules.h"
#include "frontends/http/transport/testing/http_server_fixture.h"
#include "frontends/transport/http2/testing/client_session.h"
#include "frontends/transport/http2/testing/recording_server.h"

namespace nereid::http {
namespace {

using http2::ClientSession;
using testing::HasSubstr;

constexpr uint32_t kProtocolError = 1;
constexpr uint32_t kCancel = 8;

// Keeps the last request and its responder; answers at once if `answer` is set.
class TestHandler final : public HttpHandler {
 public:
  HeadVerdict OnHead(HttpRequest* head) override { return look ? look(*head) : HeadVerdict(); }
  void Handle(std::unique_ptr<HttpRequest> handled, HttpResponder responds) override {
    ++count;
    request = std::move(handled);
    responds.SetOnCancel([this] { ++cancelled; });
    if (answer) {
      responds.Complete(answer(*request));
    } else {
      responder.emplace(std::move(responds));
    }
  }

  int count = 0;
  int cancelled = 0;
  std::unique_ptr<HttpRequest> request;
  std::optional<HttpResponder> responder;
  std::function<HttpResponse(const HttpRequest&)> answer;
  std::function<HeadVerdict(const HttpRequest&)> look;
};

class TestServer final : public http2::RecordingServer, public http2::Peer {
 public:
  TestServer(const HttpServerOptions& options, HttpHandler* handler)
      : RecordingServer(http2::SessionOptions{.budget = options.body_budget}),
        acceptor(options, handler),
        settings(std::make_shared<Http2ExchangeSettings>(options, handler)) {}
  // While there is still a peer.
  ~TestServer() override { session->CloseStreams(); }

  std::shared_ptr<http2::StreamUser> OnRequest(
      const std::shared_ptr<http2::Stream>& stream) override {
    const std::shared_ptr<http2::Peer> peer(std::shared_ptr<void>(), this);
    auto exchange = std::make_shared<Http2Exchange>(settings, loop, peer, stream);
    exchange->Begin();
    return exchange;
  }
  bool OnHeadTooLarge(http2::Stream* stream) override { return acceptor.OnHeadTooLarge(stream); }
  size_t open_streams() const override { return session->open_streams(); }
  void CountSlowClient() override { ++slow_clients; }
  transport::Account* account() override { return session->account(); }

  // The loop has no thread: what others leave for it is delivered here.
  void RunLoop() {
    loop->context().restart();
    loop->context().poll();
  }

  Http2Acceptor acceptor;
  const std::shared_ptr<const Http2ExchangeSettings> settings;
  const std::shared_ptr<transport::IoLoop> loop =
      std::make_shared<transport::IoLoop>(transport::IoLoopOptions{}, nullptr);
  int slow_clients = 0;
};

class Http2ExchangeTest : public testing::Test {
 protected:
  Http2ExchangeTest() {
    options_.body_split_header = "Inference-Header-Content-Length";
    handler_.answer = [](const HttpRequest& request) {
      return Text(std::string(request.path()) + ":" + std::string(request.body_text()));
    };
  }
  // An answer that is left for the loop refers to it, so it has to be delivered.
  ~Http2ExchangeTest() override {
    handler_.responder.reset();
    if (server_ != nullptr) server_->RunLoop();
  }
  // Lets both sides exchange all that they have to say. The server is made by the first call.
  void Talk() {
    if (server_ == nullptr) server_ = std::make_unique<TestServer>(options_, &handler_);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(http2::Exchange(&client_, server_.get()).ok());
      server_->RunLoop();
    }
  }
  const ClientSession::Answer& AnswerOf(int32_t id) { return client_.answer(id); }
  // An answer of the transport with this status and text.
  void ExpectRefused(int32_t id, const std::string& status, const std::string& text) {
    EXPECT_EQ(AnswerOf(id).Header(":status"), status);
    EXPECT_EQ(AnswerOf(id).Header("content-type"), "application/json");
    EXPECT_EQ(AnswerOf(id).body, "{\"error\":\"" + text + "\"}");
    EXPECT_TRUE(AnswerOf(id).ended);
  }

  HttpServerOptions options_;
  TestHandler handler_;
  std::unique_ptr<TestServer> server_;
  ClientSession client_{ClientSession::Options{}};
};

TEST_F(Http2ExchangeTest, ARequestIsWhatItIsOverHttp11) {
  const int32_t id = client_.Request("/v2/models?x=1", "the body", true, {{"x-one", "1"}});
  Talk();
  EXPECT_EQ(handler_.request->method(), HttpMethod::kPost);
  EXPECT_EQ(handler_.request->path(), "/v2/models");
  EXPECT_EQ(handler_.request->FindHeader("X-One"), "1");
  EXPECT_EQ(handler_.request->headers().size(), 1u);  // no pseudo-headers
  EXPECT_EQ(handler_.request->authority(), "a");
  EXPECT_EQ(AnswerOf(id).Header(":status"), "200");
  EXPECT_EQ(AnswerOf(id).Header("content-type"), "text/plain");
  EXPECT_EQ(AnswerOf(id).Header("content-length"), "19");
  EXPECT_EQ(AnswerOf(id).body, "/v2/models:the body");
  EXPECT_EQ(AnswerOf(id).order, "hd");
}

TEST_F(Http2ExchangeTest, BodiesOfKnownAndUnknownLengthAreAligned) {
  const std::string body = std::string(100, 'j') + std::string(300'000, 't');
  for (const bool known : {true, false}) {
    ClientSession::Headers headers = {{"inference-header-content-length", "100"}};
    if (known) headers.emplace_back("content-length", std::to_string(body.size()));
    client_.Request("/x", body, true, headers);
    Talk();
    ASSERT_NE(handler_.request, nullptr);
    EXPECT_TRUE(handler_.request->body_text() == body);
    const auto begin = reinterpret_cast<uintptr_t>(handler_.request->body_text().data());
    EXPECT_EQ((begin + 100) % 64, 0u) << known;
    // A body of known length lies in a place of its size.
    EXPECT_EQ(handler_.request->body()->capacity() == body.size(), known);
    handler_.request.reset();
  }
}

TEST_F(Http2ExchangeTest, FieldsThatMayStandOnce) {
  for (const SingleField& field : SingleFields()) {
    const std::string name = absl::AsciiStrToLower(field.name);
    if (name == "host") continue;  // the library refuses two of them
    const int32_t other = client_.Request("/x", "", true, {{name, "x"}, {name, "other"}});
    Talk();
    EXPECT_EQ(AnswerOf(other).Header(":status"), "400") << name;
    EXPECT_THAT(AnswerOf(other).body, HasSubstr(absl::StrCat("'", field.name, "'")));
  }
  EXPECT_EQ(handler_.count, 0);
}

TEST_F(Http2ExchangeTest, WhatHasNotArrivedIsAnsweredAtTheEnd) {
  const int32_t half = client_.Request("/x", "half", false);
  Talk();
  server_->session->Abort();
  Talk();
  ExpectRefused(half, "503", kStoppedReading);
  EXPECT_EQ(handler_.count, 0);
}

TEST_F(Http2ExchangeTest, OneHost) {
  const int32_t same = client_.Request("/x", "", true, {{"host", "A"}});
  const int32_t other = client_.Request("/x", "", true, {{"host", "b"}});
  Talk();
  EXPECT_EQ(AnswerOf(same).Header(":status"), "200");
  ExpectRefused(other, "400",
                "a request names one host, but ':authority' is 'a' and 'host' is 'b'");
}

TEST_F(Http2ExchangeTest, GetAndHead) {
  client_.SetMethod("GET");
  const int32_t got = client_.Request("/a");
  client_.SetMethod("HEAD");
  const int32_t head = client_.Request("/a");
  client_.SetMethod("PUT");
  client_.Request("/a", "body");
  Talk();
  EXPECT_EQ(AnswerOf(got).body, "/a:");
  EXPECT_EQ(AnswerOf(head).Header("content-length"), "3");
  EXPECT_EQ(AnswerOf(head).order, "h");
  EXPECT_TRUE(AnswerOf(head).ended);
  EXPECT_EQ(handler_.request->method(), HttpMethod::kOther);
  EXPECT_EQ(handler_.count, 3);
}

TEST_F(Http2ExchangeTest, BodiesThatAreTooLarge) {
  options_.max_body_bytes = 1000;
  const std::string text =
      "exceeds the maximum of 1000 bytes. Use --http-max-body-size to "
      "increase the limit.";
  const int32_t known =
      client_.Request("/x", std::string(5000, 'x'), true, {{"content-length", "5000"}});
  const int32_t unknown = client_.Request("/x", std::string(5000, 'x'));
  const int32_t endless = client_.Request("/x", "x", false, {{"content-length", "99999999999"}});
  const int32_t good =
      client_.Request("/x", std::string(1000, 'x'), true, {{"content-length", "1000"}});
  Talk();
  ExpectRefused(known, "413", "request body of 5000 bytes " + text);
  ExpectRefused(unknown, "413", "request body " + text);
  ExpectRefused(endless, "413", "request body of 99999999999 bytes " + text);
  EXPECT_EQ(AnswerOf(good).Header(":status"), "200");
  EXPECT_EQ(handler_.count, 1);
}

TEST_F(Http2ExchangeTest, AnswersArePaidForUntilTheyAreSent) {
  Budget budget("bytes in flight", 4 << 20, "--max");
  options_.body_budget = &budget;
  handler_.answer = [](const HttpRequest&) { return Text(std::string(100'000, 'x')); };
  ClientSession client(ClientSession::Options{.stream_window = 0});  // reads nothing
  server_ = std::make_unique<TestServer>(options_, &handler_);
  const auto talk = [&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(http2::Exchange(&client, server_.get()).ok());
      server_->RunLoop();
    }
  };
  std::vector<int32_t> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(client.Request("/x"));
  talk();
  EXPECT_GE(budget.used(), 10 * 100'000u - transport::Account::kFreeBytes);
  // What others need is not left to this client: its answers are refused, not the server's memory.
  for (int i = 0; i < 60; ++i) ids.push_back(client.Request("/x"));
  talk();
  EXPECT_LE(budget.used(), budget.limit() / 8 * 7);
  EXPECT_EQ(client.answer(ids.front()).Header(":status"), "200");
  EXPECT_EQ(client.answer(ids.back()).Header(":status"), "503");
  for (const int32_t id : ids) client.Cancel(id);
  talk();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(Http2ExchangeTest, ABodyThatNobodyWantsIsNotAwaited) {
  handler_.look = [](const HttpRequest&) { return HeadVerdict{/*takes_body=*/false, {}}; };
  const int32_t waits = client_.Request("/x", "", false, {{"expect", "100-continue"}});
  const int32_t sends = client_.Request("/y", "abc", false);
  Talk();
  for (const int32_t id : {waits, sends}) {
    EXPECT_EQ(AnswerOf(id).Header(":status"), "200");
    EXPECT_TRUE(AnswerOf(id).ended);
  }
  EXPECT_EQ(AnswerOf(sends).body, "/y:");
}

TEST_F(Http2ExchangeTest, ARouteLimitsItsBodies) {
  handler_.look = [](const HttpRequest&) {
    return HeadVerdict{true, {10, 413, [](std::optional<uint64_t> size, uint64_t limit) {
                                return absl::StrCat(size.value_or(0), " exceed ", limit);
                              }}};
  };
  const int32_t good = client_.Request("/x", "0123456789");
  const int32_t announced = client_.Request("/x", "", false, {{"content-length", "11"}});
  const int32_t unknown = client_.Request("/x", "0123456789!", false);
  Talk();
  EXPECT_EQ(AnswerOf(good).body, "/x:0123456789");
  ExpectRefused(announced, "413", "11 exceed 10");
  ExpectRefused(unknown, "413", "0 exceed 10");
  EXPECT_EQ(handler_.count, 1);
}

TEST_F(Http2ExchangeTest, BodiesArePaidForAsTheyArrive) {
  Budget budget("bytes in flight", 1 << 20, "--max");
  options_.body_budget = &budget;
  options_.request_cost = 100;
  handler_.answer = nullptr;
  client_.Request("/x", "begun", false, {{"content-length", "500000"}});
  Talk();
  EXPECT_EQ(budget.used(), (64u << 10) + 100);  // the first step
  const int32_t most = client_.Request("/x", "", false, {{"content-length", "2000000"}});
  Talk();
  EXPECT_EQ(AnswerOf(most).Header(":status"), "413");
  EXPECT_THAT(AnswerOf(most).body, HasSubstr("the server limit 'bytes in flight'"));
  client_.Cancel(1);
  Talk();
  EXPECT_EQ(budget.used(), 0u);

  auto others = *budget.Take(budget.limit());
  const int32_t refused = client_.Request("/x", "body");
  Talk();
  EXPECT_EQ(AnswerOf(refused).Header(":status"), "503");
  EXPECT_THAT(AnswerOf(refused).body, HasSubstr("is exhausted"));
}

TEST_F(Http2ExchangeTest, Expectations) {
  const int32_t waits = client_.Request("/x", "", false, {{"expect", "100-continue"}});
  const int32_t wrong = client_.Request("/x", "", false, {{"expect", "wonders"}});
  Talk();
  EXPECT_EQ(AnswerOf(waits).Header(":status"), "100");
  EXPECT_FALSE(AnswerOf(waits).ended);
  ExpectRefused(wrong, "417", "unsupported expectation 'wonders'");
  client_.Send(waits, "body", true);
  Talk();
  EXPECT_EQ(AnswerOf(waits).body, "/x:body");
}

TEST_F(Http2ExchangeTest, WhatBelongsToHttp11IsMalformed) {
  const ClientSession::Headers cases = {
      {"connection", "keep-alive"},     {"keep-alive", "timeout=5"}, {"proxy-connection", "close"},
      {"transfer-encoding", "chunked"}, {"upgrade", "h2c"},          {"te", "gzip"}};
  for (const auto& header : cases) {
    const int32_t id = client_.Request("/x", "body", true, {header});
    Talk();
    EXPECT_EQ(AnswerOf(id).reset_code, kProtocolError) << header.first;
  }
  const int32_t shorter = client_.Request("/x", "body", true, {{"content-length", "5"}});
  const int32_t longer = client_.Request("/x", "body", true, {{"content-length", "3"}});
  Talk();
  EXPECT_EQ(AnswerOf(shorter).reset_code, kProtocolError);
  EXPECT_EQ(AnswerOf(longer).reset_code, kProtocolError);
  EXPECT_EQ(handler_.count, 0);
}

TEST_F(Http2ExchangeTest, HeadsThatAreTooLong) {
  const int32_t id = client_.Request("/x", "body", true, ClientSession::Headers(300, {"a", "b"}));
  Talk();
  ExpectRefused(id, "431", "request header exceeds the maximum of 65536 bytes or 256 fields");
}

TEST_F(Http2ExchangeTest, HeadersOfAnswers) {
  handler_.answer = [](const HttpRequest&) {
    HttpResponse response = Text("");
    response.status = 405;
    response.headers = {{"Allow", "GET, HEAD"}, {"X-Bad", "a\r\nInjected: 1"}};
    return response;
  };
  const int32_t id = client_.Request("/x");
  Talk();
  EXPECT_EQ(AnswerOf(id).Header(":status"), "405");
  EXPECT_EQ(AnswerOf(id).Header("allow"), "GET, HEAD");
  EXPECT_EQ(AnswerOf(id).Header("x-bad"), "");
  EXPECT_EQ(AnswerOf(id).Header("content-length"), "0");
  EXPECT_EQ(AnswerOf(id).order, "h");
}

TEST_F(Http2ExchangeTest, PartsOfAnAnswerAreReleasedWhenTheyAreSent) {
  auto tensor = std::make_shared<std::string>(300'000, 't');
  const std::weak_ptr<std::string> watch = tensor;
  handler_.answer = nullptr;
  const int32_t id = client_.Request("/x");
  Talk();
  HttpResponse response = Text(std::string(5000, 'j'));
  response.chunks.push_back({tensor->data(), tensor->size(), tensor});
  response.chunks.push_back({"short", 5, nullptr});
  tensor.reset();
  handler_.responder->Complete(std::move(response));
  EXPECT_FALSE(watch.expired());
  Talk();
  EXPECT_TRUE(AnswerOf(id).body == std::string(5000, 'j') + std::string(300'000, 't') + "short");
  EXPECT_EQ(AnswerOf(id).Header("content-length"), "305005");
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(handler_.cancelled, 0);
}

TEST_F(Http2ExchangeTest, AResetCancels) {
  handler_.answer = nullptr;
  const int32_t id = client_.Request("/x", "body");
  Talk();
  EXPECT_EQ(handler_.cancelled, 0);
  client_.Cancel(id);
  Talk();
  EXPECT_EQ(handler_.cancelled, 1);
  // The answer that comes all the same is dropped.
  auto part = std::make_shared<std::string>(10'000, 'x');
  const std::weak_ptr<std::string> watch = part;
  HttpResponse late = Text("too late");
  late.chunks.push_back({part->data(), part->size(), part});
  part.reset();
  handler_.responder->Complete(std::move(late));
  Talk();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(AnswerOf(id).order, "");
}

TEST_F(Http2ExchangeTest, TheEndOfTheConnectionCancels) {
  handler_.answer = nullptr;
  client_.Request("/x", "body");
  Talk();
  server_->session->CloseStreams();
  EXPECT_EQ(handler_.cancelled, 1);
}

TEST_F(Http2ExchangeTest, ABodyThatIsProducedPieceByPiece) {
  const auto body = std::make_shared<HttpBodyStream>(1 << 20);
  handler_.answer = [&](const HttpRequest&) {
    HttpResponse response = Text("");
    response.body_stream = body;
    return response;
  };
  body->Append({"first ", nullptr});
  const int32_t id = client_.Request("/x");
  Talk();
  EXPECT_EQ(AnswerOf(id).body, "first ");
  EXPECT_EQ(AnswerOf(id).Header("content-length"), "");
  body->Append({"second ", nullptr});
  Talk();
  EXPECT_EQ(AnswerOf(id).body, "first second ");
  EXPECT_FALSE(AnswerOf(id).ended);
  body->Append({"third", nullptr});
  body->End();
  Talk();
  EXPECT_EQ(AnswerOf(id).body, "first second third");
  EXPECT_TRUE(AnswerOf(id).ended);
  EXPECT_EQ(handler_.cancelled, 0);
}

TEST_F(Http2ExchangeTest, AResetEndsAProduction) {
  const auto body = std::make_shared<HttpBodyStream>(1 << 20);
  handler_.answer = [&](const HttpRequest&) {
    HttpResponse response = Text("");
    response.body_stream = body;
    return response;
  };
  body->Append({"first", nullptr});
  const int32_t id = client_.Request("/x");
  Talk();
  client_.Cancel(id);
  Talk();
  EXPECT_TRUE(body->aborted());
  EXPECT_EQ(handler_.cancelled, 1);
}

TEST_F(Http2ExchangeTest, ABodyThatArrivesTooSlowly) {
  options_.stall_timeout = std::chrono::seconds(1);
  const int32_t id = client_.Request("/x", "begun", false);
  Talk();
  const TimePoint now = Clock::Real()->Now();
  server_->session->Sweep(now);
  server_->session->Sweep(now + std::chrono::milliseconds(900));
  EXPECT_EQ(server_->slow_clients, 0);
  client_.Send(id, "more", false);
  Talk();
  server_->session->Sweep(now + std::chrono::milliseconds(950));
  server_->session->Sweep(now + std::chrono::milliseconds(1900));
  Talk();
  ExpectRefused(id, "408",
                "timed out: the request body arrives at less than 1024 bytes per second "
                "(--http-min-rate-bytes-per-sec)");
  EXPECT_EQ(server_->slow_clients, 1);
  EXPECT_EQ(handler_.count, 0);
}

TEST_F(Http2ExchangeTest, AClientThatDoesNotReadItsAnswer) {
  options_.stall_timeout = std::chrono::seconds(1);
  handler_.answer = [](const HttpRequest&) { return Text(std::string(100'000, 'x')); };
  ClientSession::Options lazy;
  lazy.consume = false;
  ClientSession client(lazy);
  server_ = std::make_unique<TestServer>(options_, &handler_);
  const int32_t id = client.Request("/x");
  ASSERT_TRUE(http2::Exchange(&client, server_.get()).ok());
  server_->RunLoop();
  ASSERT_TRUE(http2::Exchange(&client, server_.get()).ok());
  EXPECT_EQ(client.answer(id).body.size(), 65535u);  // the window
  const TimePoint now = Clock::Real()->Now();
  server_->session->Sweep(now);
  server_->session->Sweep(now + std::chrono::seconds(2));
  ASSERT_TRUE(http2::Exchange(&client, server_.get()).ok());
  EXPECT_EQ(client.answer(id).reset_code, kCancel);
  EXPECT_EQ(server_->slow_clients, 1);
}

TEST_F(Http2ExchangeTest, ARequestKnowsHowManyOthersThereAre) {
  handler_.answer = nullptr;
  client_.Request("/a", "begun", false);
  client_.Request("/b", "begun", false);
  client_.Request("/c");
  Talk();
  EXPECT_EQ(handler_.responder->other_requests(), 2u);
}

}  // namespace
}  // namespace nereid::http
