// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/http_transport.h"

#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nereid::bench {
namespace {

// A server whose answers the test writes by hand.
class HttpTransportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    ASSERT_EQ(listen(listener_, 16), 0);
    socklen_t size = sizeof at;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    endpoint_.address = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
    endpoint_.headers = {{"authorization", "Bearer k"}};
  }
  void TearDown() override {
    if (server_ >= 0) close(server_);
    close(listener_);
  }

  void Connect(HttpAnswers answers = HttpAnswers::kWhole) {
    auto transport = HttpTransport::Connect(
        endpoint_, RequestScript(HttpTransport::Render(endpoint_, {"/p", "body", 2})), 1, answers);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
    server_ = accept(listener_, nullptr, nullptr);
  }

  std::string Received() const {
    std::string text(4096, '\0');
    text.resize(
        static_cast<size_t>(std::max<ssize_t>(recv(server_, text.data(), text.size(), 0), 0)));
    return text;
  }

  // Sends a request and gives it `answer`; an empty one closes the connection.
  bool Ask(const std::string& answer) {
    EXPECT_TRUE(transport_->Send(0).ok());
    Received();
    if (answer.empty()) {
      close(std::exchange(server_, -1));
    } else {
      EXPECT_EQ(send(server_, answer.data(), answer.size(), 0),
                static_cast<ssize_t>(answer.size()));
    }
    std::vector<Transport::Completion> done;
    const BenchTime deadline = BenchClock::now() + std::chrono::seconds(20);
    while (done.empty() && BenchClock::now() < deadline) {
      EXPECT_TRUE(transport_->Poll(deadline, &done).ok());
    }
    first_ = !done.empty() && done[0].first != BenchTime();
    return !done.empty() && done[0].ok;
  }

  int listener_ = -1;
  int server_ = -1;
  Endpoint endpoint_;
  std::unique_ptr<Transport> transport_;
  bool first_ = false;  // the last answer had a first response
};

TEST_F(HttpTransportTest, ARequestIsWhatItShouldBe) {
  Connect();
  ASSERT_TRUE(transport_->Send(0).ok());
  EXPECT_EQ(Received(), "POST /p HTTP/1.1\r\nHost: " + endpoint_.address +
                            "\r\nContent-Length: 4\r\nContent-Type: application/octet-stream\r\n"
                            "Inference-Header-Content-Length: 2\r\n"
                            "authorization: Bearer k\r\n\r\nbody");
}

TEST_F(HttpTransportTest, TheTextOfAFailureIsKept) {
  Connect();
  EXPECT_TRUE(Ask("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  EXPECT_FALSE(Ask("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno"));
  EXPECT_EQ(transport_->error(0), "HTTP 400 Bad Request: no");
  EXPECT_FALSE(Ask("HTTP/1.1 503 Busy\r\nContent-Length: 600\r\n\r\n" + std::string(600, 'x')));
  EXPECT_EQ(transport_->error(0), "HTTP 503 Busy: " + std::string(kMostErrorBytes, 'x'));
  EXPECT_TRUE(Ask("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
}

TEST_F(HttpTransportTest, WhatIsNoAnswerIsAFailure) {
  Connect();
  EXPECT_FALSE(Ask("SSH-2.0\r\n\r\n"));
  EXPECT_EQ(transport_->error(0), "no HTTP/1.1 answer");
}

constexpr char kStreamHead[] = "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n";

TEST_F(HttpTransportTest, AStreamOfEventsEndsWithItsLastChunk) {
  Connect(HttpAnswers::kEventStreams);
  EXPECT_TRUE(Ask(absl::StrCat(kStreamHead, "a\r\ndata: {}\n\n\r\n0\r\n\r\n")));
  EXPECT_TRUE(first_);
  EXPECT_TRUE(Ask(absl::StrCat(kStreamHead, "0\r\n\r\n")));
  EXPECT_FALSE(first_) << "a request may have no responses";
  EXPECT_FALSE(Ask(absl::StrCat(kStreamHead, "18\r\ndata: {\"error\":\"late\"}\n\n\r\n0\r\n\r\n")));
  EXPECT_EQ(transport_->error(0), "{\"error\":\"late\"}");
  EXPECT_FALSE(Ask("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno"));
  EXPECT_EQ(transport_->error(0), "HTTP 400 Bad Request: no");
  EXPECT_FALSE(Ask(absl::StrCat(kStreamHead, "no chunk\r\n")));
  EXPECT_EQ(transport_->error(0), "a chunk of the answer has the size 'no chunk'");
}

TEST_F(HttpTransportTest, OtherAnswersNeedTheirLength) {
  Connect();
  EXPECT_FALSE(Ask(absl::StrCat(kStreamHead, "0\r\n\r\n")));
  EXPECT_EQ(transport_->error(0), "an answer without Content-Length, which this client needs");
}

TEST_F(HttpTransportTest, ALostConnectionFailsItsRequestAndIsReplaced) {
  Connect();
  EXPECT_FALSE(Ask(""));
  EXPECT_EQ(transport_->error(0),
            "the server closed the connection without an answer (a port with TLS wants https or "
            "grpcs in the URL)");
  ASSERT_TRUE(transport_->Send(0).ok());
  server_ = accept(listener_, nullptr, nullptr);
  EXPECT_GE(server_, 0);
}

TEST_F(HttpTransportTest, IdsOfSequencesAreInThePlaceOfTheirHead) {
  auto script =
      HttpTransport::Sequences(endpoint_, {"/p", "{\"inputs\":[]}", 13}, 1, 2, 1234567890);
  ASSERT_TRUE(script.ok());
  EXPECT_NE(
      script->Next(0).find("{\"parameters\":{\"sequence_id\":1234567890,\"sequence_start\":true"),
      std::string::npos);
  script->Next(0);
  const absl::string_view next = script->Next(0);
  EXPECT_NE(next.find("\"sequence_id\":1234567891,"), std::string::npos);
  // 83 bytes of parameters are in front of what were 13 bytes.
  EXPECT_NE(next.find("Inference-Header-Content-Length: 96\r\n"), std::string::npos) << next;
  EXPECT_FALSE(HttpTransport::Sequences(endpoint_, {"/p", "x"}, 1, 2).ok());
}

}  // namespace
}  // namespace nereid::bench
