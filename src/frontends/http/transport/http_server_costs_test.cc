// SPDX-License-Identifier: Apache-2.0
// What a request may cost the server over real sockets: bodies that nobody wants, long heads, and
// answers that nobody reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/budget.h"
#include "frontends/http/transport/testing/http_server_fixture.h"

namespace nereid {
namespace {

class HttpServerCostsTest : public HttpServerTest {};

TEST_F(HttpServerCostsTest, DropsAShortBodyThatNobodyWants) {
  StartServer();
  LoopbackClient client(port());
  client.Send("POST /none/1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhe");
  client.Send("lloGET /none/2 HTTP/1.1\r\n\r\nPOST /3 HTTP/1.1\r\nContent-Length: 1\r\n\r\n!");
  const auto first = client.Read();
  EXPECT_EQ(first.body, "/none/1:");
  EXPECT_EQ(first.headers.count("connection"), 0u);
  EXPECT_EQ(client.Read().body, "/none/2:");
  EXPECT_EQ(client.Read().body, "/3:!");
}

TEST_F(HttpServerCostsTest, AnswersBeforeALongBodyThatNobodyWants) {
  StartServer();
  for (const char* framing : {"Content-Length: 100000000\r\n", "Transfer-Encoding: chunked\r\n",
                              "Content-Length: 5\r\nExpect: 100-continue\r\n"}) {
    LoopbackClient client(port());
    client.Send(absl::StrCat("POST /none HTTP/1.1\r\n", framing, "\r\n"));
    const auto answer = client.Read();  // no "100 Continue" comes first
    EXPECT_EQ(answer.status, 200) << framing;
    EXPECT_EQ(answer.Header("connection"), "close") << framing;
    // What follows is a body, whatever it looks like.
    client.Send("GET /stolen HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(client.AtEof()) << framing;
  }
}

TEST_F(HttpServerCostsTest, LongHeadsArePaidFor) {
  Budget budget("bytes in flight", 1 << 20, "--max");
  options_.body_budget = &budget;
  StartServer();
  const std::string head = absl::StrCat("GET /hold HTTP/1.1\r\na: ", std::string(40'000, 'x'));
  LoopbackClient client(port());
  client.Send(head);
  const TimePoint deadline = In(seconds(20));
  while (budget.used() < head.size() && Clock::Real()->Now() < deadline) std::this_thread::yield();
  EXPECT_GE(budget.used(), head.size());
  client.Send("\r\n\r\n");
  {
    auto held = handler_.Take();
    EXPECT_GE(budget.used(), head.size());  // the request has the head now
    held.request.reset();
    held.responder.Complete(Text("x"));
  }
  EXPECT_EQ(client.Read().status, 200);
  while (budget.used() > 0 && Clock::Real()->Now() < deadline) std::this_thread::yield();
  EXPECT_EQ(budget.used(), 0u);

  auto others = *budget.Take(budget.limit());
  client.Send(head);
  const auto refused = client.Read();
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, testing::HasSubstr("server limit 'bytes in flight'"));
}

TEST_F(HttpServerCostsTest, AnswersArePaidForUntilTheyAreSent) {
  Budget budget("bytes in flight", 64 << 20, "--max");
  options_.body_budget = &budget;
  StartServer();
  LoopbackClient client(port());
  client.Send("GET /hold HTTP/1.1\r\n\r\n");
  auto held = handler_.Take();
  held.responder.Complete(Text(std::string(20 << 20, 'x')));  // more than sockets buffer
  const TimePoint deadline = In(seconds(20));
  while (budget.used() < 20 << 20 && Clock::Real()->Now() < deadline) std::this_thread::yield();
  EXPECT_GE(budget.used(), 20u << 20);
  EXPECT_EQ(client.Read().body.size(), 20u << 20);
  while (budget.used() > 0 && Clock::Real()->Now() < deadline) std::this_thread::yield();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(HttpServerCostsTest, ARouteLimitsItsBodies) {
  StartServer();
  LoopbackClient client(port());
  client.Send("POST /small HTTP/1.1\r\nContent-Length: 10\r\n\r\n0123456789");
  EXPECT_EQ(client.Read().body, "/small:0123456789");
  client.Send("POST /small HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  const auto announced = client.Read();
  EXPECT_EQ(announced.status, 413);
  EXPECT_EQ(announced.body, "{\"error\":\"11 exceed 10\"}");
  LoopbackClient chunked(port());
  chunked.Send("POST /small HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n2\r\n");
  EXPECT_EQ(chunked.Read().body, "{\"error\":\"0 exceed 10\"}");
}

}  // namespace
}  // namespace nereid
