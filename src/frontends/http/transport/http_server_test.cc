// SPDX-License-Identifier: Apache-2.0
// The server over real sockets. Waits are for events and end with a deadline; nothing sleeps.
#include "frontends/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "frontends/http/transport/testing/http_server_fixture.h"

namespace nereid {
namespace {

TEST_F(HttpServerTest, KeepsTheConnectionAndAnswersInOrder) {
  StartServer();
  LoopbackClient client(port());
  const auto first = client.RoundTrip("GET /a?q HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "/a:");
  EXPECT_EQ(first.Header("content-type"), "text/plain");
  EXPECT_EQ(first.headers.count("connection"), 0u);
  client.Send(
      "POST /b HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /c HTTP/1.1\r\n\r\n"
      "POST /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
      "GET /e HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.Read().body, "/b:hi");
  EXPECT_EQ(client.Read().body, "/c:");
  EXPECT_EQ(client.Read().body, "/d:abc");
  const auto last = client.Read();
  EXPECT_EQ(last.body, "/e:");
  EXPECT_EQ(last.Header("connection"), "close");
  EXPECT_TRUE(client.AtEof());
}

TEST_F(HttpServerTest, PipelinedRequestWaitsForTheOneBefore) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold/1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  EXPECT_EQ(held.request->path(), "/hold/1");
  held.responder.Complete(Text("one"));  // from this thread, not the I/O thread
  EXPECT_EQ(client.Read().body, "one");
  EXPECT_EQ(client.Read().body, "/2:");
  EXPECT_EQ(handler_.cancelled(), 0);
}

TEST_F(HttpServerTest, PipelinedRequestsLetOthersHaveTheirTurn) {
  StartServer();
  LoopbackClient other(port());
  EXPECT_EQ(other.RoundTrip("GET /before HTTP/1.1\r\n\r\n").body, "/before:");
  std::atomic<int> handled{0};
  std::atomic<int> before_other{-1};
  handler_.CallFirst([&](absl::string_view path) {
    // Sent by the I/O thread, so that it has arrived while the flood is handled.
    if (path == "/first") other.Send("GET /other HTTP/1.1\r\n\r\n");
    if (path == "/other") before_other = handled.load();
    ++handled;
  });
  constexpr int kMany = 200;
  std::string flood = "GET /first HTTP/1.1\r\n\r\n";
  for (int i = 1; i < kMany; ++i) flood += "GET / HTTP/1.1\r\n\r\n";
  LoopbackClient flooding(port());
  flooding.Send(flood);
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(flooding.Read().status, 200);
  EXPECT_EQ(other.Read().body, "/other:");
  EXPECT_LT(before_other, kMany / 2);
}

TEST_F(HttpServerTest, SendsTheBodyInPiecesAndLetsGoOfThem) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  // More pieces than one gather list can hold, and more bytes than the socket's buffers.
  auto piece = std::make_shared<std::string>(200'000, 'p');
  std::weak_ptr<std::string> watch = piece;
  HttpResponse response = Text("begin ");
  response.headers = {{"X-Good", "1"}, {"X-Bad", "a\r\nInjected: 1"}};
  for (int i = 0; i < 100; ++i) response.chunks.push_back({piece->data(), piece->size(), piece});
  piece.reset();
  held.responder.Complete(std::move(response));
  const auto received = client.Read();
  EXPECT_EQ(received.body.size(), 6 + 100 * 200'000u);
  EXPECT_EQ(received.body.substr(0, 8), "begin pp");
  EXPECT_EQ(received.Header("x-good"), "1");
  EXPECT_EQ(received.headers.count("x-bad"), 0u);
  EXPECT_EQ(received.headers.count("injected"), 0u);
  EXPECT_EQ(client.RoundTrip("GET /next HTTP/1.1\r\n\r\n").body, "/next:");
  EXPECT_TRUE(watch.expired());
}

TEST_F(HttpServerTest, LargeBodyComesBackUnchanged) {
  StartServer();
  std::string body(4 << 20, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 >> 3);
  LoopbackClient client(port());
  std::thread sender([&] {
    client.Send(absl::StrCat("POST /big HTTP/1.1\r\nContent-Length: ", body.size(), "\r\n\r\n"));
    client.Send(body);
  });
  sender.join();
  EXPECT_TRUE(client.Read().body == "/big:" + body);
}

TEST_F(HttpServerTest, HeadHasTheHeaderOfGetAndNoBody) {
  StartServer();
  LoopbackClient client(port());
  client.Send("HEAD /abc HTTP/1.1\r\n\r\nGET /d HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.Read(/*head_only=*/true).Header("content-length"), "5");
  EXPECT_EQ(client.Read().body, "/d:");
}

TEST_F(HttpServerTest, SpeaksHttp10) {
  StartServer();
  LoopbackClient kept(port());
  const auto first = kept.RoundTrip("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(first.Header("connection"), "keep-alive");
  EXPECT_EQ(kept.RoundTrip("GET /b HTTP/1.0\r\n\r\n").Header("connection"), "close");
  EXPECT_TRUE(kept.AtEof());
}

TEST_F(HttpServerTest, AsksForTheBodyWhenTheClientWaits) {
  StartServer();
  LoopbackClient client(port());
  client.Send("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.Read(/*head_only=*/true).status, 100);
  EXPECT_EQ(client.RoundTrip("ab").body, "/x:ab");
}

TEST_F(HttpServerTest, RefusesWithJsonAndClosesAfterTheAnswerArrived) {
  options_.max_body_bytes = 1000;
  StartServer();
  LoopbackClient client(port());
  client.Send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
  client.Send(std::string(500'000, 'x'));  // must not destroy the answer
  const auto response = client.Read();
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.Header("content-type"), "application/json");
  EXPECT_EQ(response.Header("connection"), "close");
  EXPECT_EQ(response.body,
            "{\"error\":\"request body of 1000000 bytes exceeds the maximum of 1000 bytes. Use "
            "--http-max-body-size to increase the limit.\"}");
  EXPECT_TRUE(client.AtEof());
}

TEST_F(HttpServerTest, TooManyChunksEndTheConnection) {
  StartServer();
  LoopbackClient client(port());
  std::string request = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 65537; ++i) request += "1\r\nx\r\n";
  client.Send(request);
  const auto response = client.Read();
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body,
            "{\"error\":\"Chunked request body exceeds maximum of 65536 non-empty chunks. Send "
            "fewer or larger HTTP chunks.\"}");
  EXPECT_TRUE(client.AtEof());
}

TEST_F(HttpServerTest, LimitsConnections) {
  options_.max_connections = 1;
  StartServer();
  LoopbackClient first(port());
  EXPECT_EQ(first.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(server_->connection_count(), 1u);
  LoopbackClient second(port());
  const auto refused = second.Read();
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, testing::HasSubstr("'http connections'"));
  EXPECT_TRUE(second.AtEof());
}

TEST_F(HttpServerTest, NoticesAClientThatLeaves) {
  StartServer();
  {
    LoopbackClient closing(port());
    closing.Send("GET /hold HTTP/1.1\r\n\r\n");
    auto held = handler_.Take();
    closing.Close();
    EXPECT_TRUE(handler_.WaitCancelled(1));
    held.responder.Complete(Text("too late"));
  }
  LoopbackClient resetting(port());
  resetting.Send("POST /hold HTTP/1.1\r\nContent-Length: 1\r\n\r\nx");
  auto held = handler_.Take();
  resetting.Reset();
  EXPECT_TRUE(handler_.WaitCancelled(2));
  EXPECT_EQ(held.request->body_text(), "x");  // the request is still valid
}

TEST_F(HttpServerTest, NoticesAClientThatLeavesBehindMoreThanIsReadAhead) {
  options_.idle_timeout = milliseconds(1000);  // so that connections are checked every 250 ms
  StartServer();
  const std::string hold = "POST /hold HTTP/1.1\r\nContent-Length: 50000\r\n\r\n";
  const std::string body(50000, 'x');
  for (const bool reset : {true, false}) {
    LoopbackClient client(port());
    client.Send(hold + body + hold + body);
    auto held = handler_.Take();
    if (reset) {
      client.Reset();
    } else {
      client.ShutdownSend();
    }
    EXPECT_TRUE(handler_.WaitCancelled(reset ? 1 : 2));
    held.responder.Complete(MakeErrorResponse(499, "cancelled"));
    if (reset) continue;
    EXPECT_EQ(client.Read().status, 499);
    // The second request was sent before the half-close, so it is answered, too.
    auto behind = handler_.Take();
    EXPECT_EQ(behind.request->body_text(), body);
    EXPECT_TRUE(handler_.WaitCancelled(3));
    behind.responder.Complete(MakeErrorResponse(499, "cancelled"));
    EXPECT_EQ(client.Read().status, 499);
  }
}

TEST_F(HttpServerTest, HalfClosedClientCancelsAndStillGetsTheAnswer) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  client.ShutdownSend();
  EXPECT_TRUE(handler_.WaitCancelled(1));
  held.responder.Complete(MakeErrorResponse(499, "cancelled"));
  EXPECT_EQ(client.Read().status, 499);
  EXPECT_TRUE(client.AtEof());
}

// ---- Bodies that are sent while they are made

constexpr uint64_t kWaitingBytes = 100'000;

std::shared_ptr<HttpBodyStream> Answer(HttpResponder responder, uint64_t limit = kWaitingBytes) {
  HttpResponse response;
  response.content_type = "text/event-stream; charset=utf-8";
  response.body_stream = std::make_shared<HttpBodyStream>(
      limit, std::make_shared<ResponseCredit>(std::make_shared<ResponseCredit::Account>(0), limit));
  std::shared_ptr<HttpBodyStream> body = response.body_stream;
  responder.Complete(std::move(response));
  return body;
}

void AwaitCredit(HttpBodyStream* body) {
  const auto credited = std::make_shared<std::promise<void>>();
  body->credit()->OnCredit([credited] { credited->set_value(); });
  credited->get_future().wait();
}

TEST_F(HttpServerTest, SendsPiecesAsTheyAreMade) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  const auto body = Answer(std::move(held.responder));
  const auto head = client.ReadHead();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("transfer-encoding"), "chunked");
  EXPECT_EQ(head.headers.count("content-length"), 0u);
  EXPECT_EQ(head.Header("content-type"), "text/event-stream; charset=utf-8");
  auto owner = std::make_shared<int>();
  for (const char* text : {"one", "two", "three"}) {
    body->Append({text, owner});
    EXPECT_EQ(client.ReadChunk(), text);
  }
  body->End();
  EXPECT_EQ(client.ReadChunk(), "");
  EXPECT_EQ(client.Read().body, "/next:") << "the connection goes on";
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(handler_.cancelled(), 0);
}

TEST_F(HttpServerTest, PiecesThatAreThereLeaveWithTheHeader) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  HttpResponse response;
  response.status = 400;
  response.body_stream = std::make_shared<HttpBodyStream>(kWaitingBytes);
  response.body_stream->Append({"a", nullptr});
  response.body_stream->Append({"", nullptr});  // an empty chunk would end the body
  response.body_stream->Append({"b", nullptr});
  response.body_stream->End();
  handler_.Take().responder.Complete(std::move(response));
  EXPECT_EQ(client.ReadHead().status, 400);
  EXPECT_EQ(client.ReadChunk(), "a");
  EXPECT_EQ(client.ReadChunk(), "b");
  EXPECT_EQ(client.ReadChunk(), "");
  EXPECT_EQ(client.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
}

TEST_F(HttpServerTest, AnEmptyStreamIsAnEmptyBody) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  Answer(handler_.Take().responder)->End();
  const auto response = client.Read();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(client.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
}

TEST_F(HttpServerTest, ClientsOfHttp10GetTheBodyUpToTheEnd) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto body = Answer(handler_.Take().responder);
  body->Append({"one ", nullptr});
  body->Append({"two", nullptr});
  body->End();
  const auto head = client.ReadHead();
  EXPECT_EQ(head.headers.count("transfer-encoding"), 0u);
  EXPECT_EQ(head.Header("connection"), "close");
  EXPECT_EQ(client.ReadAll(), "one two");
}

TEST_F(HttpServerTest, AProducerHasNoCreditUntilTheClientReads) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  const auto body = Answer(handler_.Take().responder);
  constexpr int kPieces = 400;  // 40 MB: more than any socket takes
  std::atomic<int> made{0};
  std::thread producer([&] {
    for (int i = 0; i < kPieces; ++i) {
      body->Append({std::string(100'000, static_cast<char>('a' + i % 26)), nullptr});
      ++made;
      AwaitCredit(body.get());
    }
    body->End();
  });
  EXPECT_EQ(client.ReadHead().status, 200);
  LoopbackClient other(port());
  for (int i = 0; i < 100; ++i) {  // the loop serves other clients meanwhile
    EXPECT_EQ(other.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
  }
  EXPECT_LT(made.load(), kPieces);
  for (int i = 0; i < kPieces; ++i) {
    ASSERT_EQ(client.ReadChunk(), std::string(100'000, static_cast<char>('a' + i % 26)));
  }
  EXPECT_EQ(client.ReadChunk(), "");
  producer.join();
}

TEST_F(HttpServerTest, AClientThatLeavesLetsTheProducerGoOn) {
  StartServer();
  for (const bool reset : {false, true}) {
    LoopbackClient client(port());
    client.Send("GET /hold HTTP/1.1\r\n\r\n");
    const auto body = Answer(handler_.Take().responder);
    EXPECT_EQ(client.ReadHead().status, 200);
    auto owner = std::make_shared<int>();
    std::thread producer([&] {
      for (int i = 0; i < 400; ++i) {
        body->Append({std::string(100'000, 'x'), owner});
        AwaitCredit(body.get());
      }
      body->End();
    });
    client.ReadChunk();
    reset ? client.Reset() : client.Close();
    producer.join();
    EXPECT_TRUE(handler_.WaitCancelled(reset ? 2 : 1));
    // The connection lets go of what it has not sent after it has said that the client left.
    while (owner.use_count() > 1) std::this_thread::yield();
  }
}

TEST_F(HttpServerTest, LeavingAQuietStreamIsNoticed) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  const auto body = Answer(handler_.Take().responder);
  body->Append({"one", nullptr});
  EXPECT_EQ(client.ReadHead().status, 200);
  EXPECT_EQ(client.ReadChunk(), "one");
  client.Close();
  EXPECT_TRUE(handler_.WaitCancelled(1));
  body->End();
}

TEST_F(HttpServerTest, AClientThatTakesNothingIsCutOff) {
  options_.stall_timeout = milliseconds(50);
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  const auto body = Answer(handler_.Take().responder);
  while (handler_.cancelled() == 0) {
    body->Append({std::string(1'000'000, 'x'), nullptr});
    AwaitCredit(body.get());
  }
  body->End();
}

TEST_F(HttpServerTest, StopLetsAStreamFinish) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  const auto body = Answer(handler_.Take().responder);
  EXPECT_EQ(client.ReadHead().status, 200);
  std::thread stopper([&] { server_->Stop(In(seconds(20))); });
  body->Append({"last", nullptr});
  EXPECT_EQ(client.ReadChunk(), "last");
  body->End();
  EXPECT_EQ(client.ReadChunk(), "");
  stopper.join();
  EXPECT_EQ(handler_.cancelled(), 0);
}

TEST_F(HttpServerTest, StopEndsAStreamThatDoesNotFinishInTime) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  LoopbackClient unanswered(port());
  unanswered.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held_longer = handler_.Take();
  const auto body = Answer(std::move(held.responder), /*limit=*/10);
  EXPECT_EQ(client.ReadHead().status, 200);
  server_->Stop(In(milliseconds(1)));
  EXPECT_TRUE(handler_.WaitCancelled(2));
  server_.reset();
  // The pieces have no reader any more, and their producers must not block.
  const auto late = Answer(std::move(held_longer.responder), /*limit=*/10);
  for (const auto& one : {body, late}) {
    one->Append({std::string(1000, 'x'), nullptr});
    AwaitCredit(one.get());
    one->End();
  }
}

TEST_F(HttpServerTest, ResponseIsMadeOnTheConnectionsThreadOrNotAtAll) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  const auto this_thread = std::this_thread::get_id();
  handler_.Take().responder.CompleteWith([this_thread] {
    return Text(std::this_thread::get_id() == this_thread ? "caller" : "other");
  });
  EXPECT_EQ(client.Read().body, "other");
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  client.Reset();
  EXPECT_TRUE(handler_.WaitCancelled(1));
  held.responder.CompleteWith([] {
    ADD_FAILURE() << "made for nobody";
    return HttpResponse();
  });
  server_->Stop(In(seconds(20)));
}

TEST_F(HttpServerTest, DroppedResponderAnswers500) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  { auto dropped = handler_.Take(); }
  EXPECT_EQ(client.Read().status, 500);
  EXPECT_EQ(client.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
}

TEST_F(HttpServerTest, SlowRequestsTimeOut) {
  options_.header_timeout = options_.stall_timeout = milliseconds(50);
  options_.idle_timeout = seconds(100);
  StartServer();
  LoopbackClient slow_head(port());
  slow_head.Send("GET / HT");
  EXPECT_EQ(slow_head.Read().status, 408);
  EXPECT_TRUE(slow_head.AtEof());
  LoopbackClient slow_body(port());
  slow_body.Send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_THAT(slow_body.Read().body, testing::HasSubstr("body"));
}

// ---- Slow clients, with a fake clock. Sweeps come once a second.

class SlowClientTest : public HttpServerTest {
 protected:
  SlowClientTest() {
    options_.clock = &clock_;
    options_.header_timeout = options_.stall_timeout = seconds(60);
    options_.idle_timeout = seconds(24 * 3600);
  }
  ~SlowClientTest() override { server_.reset(); }  // before clock_, which it uses
  // Returns when the server has seen all that clients have sent.
  void LetTheServerRead() {
    LoopbackClient other(port());
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(other.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
    }
  }
  // Starts an answer that is too large for the socket and waits until it is blocked.
  std::shared_ptr<HttpBodyStream> Flood(LoopbackClient* client) {
    client->Send("GET /hold HTTP/1.1\r\n\r\n");
    const auto body = Answer(handler_.Take().responder, /*limit=*/1 << 30);
    body->Append({std::string(64 << 20, 'x'), nullptr});
    LetTheServerRead();
    return body;
  }

  FakeClock clock_;
};

TEST_F(SlowClientTest, ADrippingBodyIsGivenUp) {
  StartServer();
  LoopbackClient client(port());
  client.Send("POST / HTTP/1.1\r\nContent-Length: 2147483647\r\n\r\nx");
  for (int i = 0; i < 2; ++i) {  // never silent for as long as the stall time-out
    LetTheServerRead();
    clock_.Advance(seconds(40));
    client.Send("x");
  }
  const auto response = client.Read();
  EXPECT_EQ(response.status, 408);
  EXPECT_EQ(response.body,
            "{\"error\":\"timed out: the request body arrives at less than 1024 bytes per second "
            "(--http-min-rate-bytes-per-sec)\"}");
  EXPECT_EQ(server_->slow_clients(), 1u);
}

TEST_F(SlowClientTest, ADripGoesOnWithoutALeastRate) {
  options_.min_bytes_per_second = 0;
  StartServer();
  LoopbackClient client(port());
  client.Send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nx");
  for (int i = 0; i < 4; ++i) {
    LetTheServerRead();
    clock_.Advance(seconds(40));
    client.Send("x");
  }
  EXPECT_EQ(client.Read().body, "/:xxxxx");
}

TEST_F(SlowClientTest, WhatAClientSendsDoesNotExcuseThatItDoesNotRead) {
  StartServer();
  LoopbackClient client(port());
  const auto body = Flood(&client);
  // The sockets may take a little more at first. Then no more of the answer can be sent.
  for (int i = 0; i < 6; ++i) {
    clock_.Advance(seconds(40));
    client.Send("x");
    LetTheServerRead();
  }
  EXPECT_TRUE(handler_.WaitCancelled(1));
  EXPECT_EQ(server_->slow_clients(), 1u);
}

TEST_F(SlowClientTest, AnEventStreamThatWaitsIsNotSlow) {
  StartServer();
  LoopbackClient waiting(port());
  waiting.Send("GET /hold HTTP/1.1\r\n\r\n");
  const auto body = Answer(handler_.Take().responder);
  body->Append({"one", nullptr});
  EXPECT_EQ(waiting.ReadHead().status, 200);
  EXPECT_EQ(waiting.ReadChunk(), "one");
  LoopbackClient idle(port());
  EXPECT_EQ(idle.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
  LetTheServerRead();  // and set the deadline of the idle connection
  clock_.Advance(seconds(25 * 3600));
  EXPECT_TRUE(idle.AtEof()) << "the sweep came by";
  body->Append({"two", nullptr});
  body->End();
  EXPECT_EQ(waiting.ReadChunk(), "two");
  EXPECT_EQ(waiting.ReadChunk(), "");
  EXPECT_EQ(server_->slow_clients(), 0u);
}

// ---- Accepting

// The socket of this process that listens on `port`.
int ListeningSocket(uint16_t port) {
  for (int fd = 0; fd < 1024; ++fd) {
    int listens = 0;
    socklen_t size = sizeof(listens);
    sockaddr_in address{};
    socklen_t address_size = sizeof(address);
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &address_size) == 0 &&
        ntohs(address.sin_port) == port) {
      return fd;
    }
  }
  return -1;
}

// An accept error that does not go away must not keep the loop busy: it is logged, and accept is
// tried again later.
TEST_F(HttpServerTest, BacksOffFromAnyAcceptError) {
  LogSettings settings;
  settings.file = testing::TempDir() + "/accept.log";
  std::remove(settings.file.c_str());
  ASSERT_TRUE(Log::Configure(settings).ok());
  StartServer();
  LoopbackClient client(port());
  EXPECT_EQ(client.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
  ASSERT_EQ(::shutdown(ListeningSocket(port()), SHUT_RDWR), 0);  // now accept returns EINVAL
  bool told = false;
  const TimePoint deadline = In(seconds(20));
  while (!told && Clock::Real()->Now() < deadline) {
    EXPECT_EQ(client.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
    std::ifstream log(settings.file);
    const std::string text((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
    told = absl::StrContains(text, "cannot accept a connection for HTTP");
  }
  EXPECT_TRUE(told);
  ASSERT_TRUE(Log::Configure(LogSettings()).ok());
}

TEST_F(HttpServerTest, IdleConnectionsAreClosedWithoutAWord) {
  options_.idle_timeout = milliseconds(50);
  StartServer();
  LoopbackClient client(port());
  EXPECT_EQ(client.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_TRUE(client.AtEof());
}

TEST_F(HttpServerTest, StopLetsRequestsFinish) {
  StartServer();
  LoopbackClient idle(port());
  EXPECT_EQ(idle.RoundTrip("GET /a HTTP/1.1\r\n\r\n").status, 200);
  LoopbackClient busy(port());
  busy.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  const uint16_t old_port = port();
  std::thread stopper([&] { server_->Stop(In(seconds(20))); });
  EXPECT_TRUE(idle.AtEof());
  EXPECT_FALSE(LoopbackClient(old_port).connected());
  held.responder.Complete(Text("finished"));
  const auto response = busy.Read();
  EXPECT_EQ(response.body, "finished");
  EXPECT_EQ(response.Header("connection"), "close");
  EXPECT_TRUE(busy.AtEof());
  stopper.join();
  EXPECT_EQ(handler_.cancelled(), 0);
}

TEST_F(HttpServerTest, StopCancelsWhatDoesNotFinishInTime) {
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  server_->Stop(In(milliseconds(1)));
  EXPECT_TRUE(handler_.WaitCancelled(1));
  EXPECT_TRUE(client.AtEof());
  server_.reset();
  held.responder.Complete(Text("nobody hears this"));  // has no effect
}

TEST_F(HttpServerTest, PortInUseIsUnavailable) {
  StartServer();
  HttpServerOptions second = options_;
  second.port = port();
  const auto status = HttpServer::Start(second, &handler_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              ::testing::StartsWith(
                  absl::StrCat("Socket '127.0.0.1:", port(), "' already in use by process ")));
}

TEST_F(HttpServerTest, ReusePortLetsTwoServersListen) {
  options_.reuse_port = true;
  StartServer();
  HttpServerOptions second = options_;
  second.port = port();
  EXPECT_TRUE(HttpServer::Start(second, &handler_).ok());
}

TEST_F(HttpServerTest, BadAddressIsInvalid) {
  options_.address = "not an address";
  EXPECT_EQ(HttpServer::Start(options_, &handler_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(HttpServerTest, ManyClientsOnSeveralThreads) {
  options_.thread_count = 3;
  StartServer();
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      LoopbackClient client(port());
      for (int i = 0; i < 50; ++i) {
        const bool hold = i % 5 == 0;
        const std::string path = absl::StrCat(hold ? "/hold/" : "/", c, "/", i);
        client.Send(absl::StrCat("POST ", path, " HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"));
        if (hold) {
          auto held = handler_.Take();  // may be the request of another client
          held.responder.Complete(Text(absl::StrCat(held.request->path(), ":abc")));
        }
        if (client.Read().body == path + ":abc") ++good;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good.load(), 8 * 50);
}

}  // namespace
}  // namespace nereid
