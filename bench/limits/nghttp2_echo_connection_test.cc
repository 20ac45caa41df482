// SPDX-License-Identifier: Apache-2.0
#include "bench/limits/nghttp2_echo_connection.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/loadgen/grpc_connection.h"
#include "apps/loadgen/grpc_transport.h"

namespace nereid::bench {
namespace {

using std::string_literals::operator""s;

constexpr char kUnary[] = "/inference.GRPCInferenceService/ModelInfer";
constexpr char kStream[] = "/inference.GRPCInferenceService/ModelStreamInfer";

// The load generator's side and the echo's, in turns on the test's own thread.
class EchoConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    ASSERT_EQ(listen(listener_, 16), 0);
    socklen_t size = sizeof at;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    address_ = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
  }
  void TearDown() override { close(listener_); }

  void Accept() {
    const int fd = accept(listener_, nullptr, nullptr);
    ASSERT_GE(fd, 0);
    echo_ = std::make_unique<EchoConnection>(fd, &options_);
  }

  Endpoint Server() const {
    Endpoint endpoint;
    endpoint.address = address_;
    return endpoint;
  }

  void Connect(const std::string& request, int calls, int responses = 0) {
    auto transport = GrpcTransport::Connect(Server(), RequestScript(WithGrpcPrefix(request)), calls,
                                            1, GrpcTransport::Method(responses));
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
    transport_->KeepAnswers(true);
    Accept();
  }

  // False if the echo has given the connection up.
  bool Step() { return echo_->Read() && echo_->Flush(); }

  // Sends on all slots and returns how each of them ended.
  std::map<int, bool> RoundTrip() {
    for (int slot = 0; slot < transport_->slots(); ++slot) {
      EXPECT_TRUE(transport_->Send(slot).ok());
    }
    const BenchTime deadline = BenchClock::now() + std::chrono::seconds(20);
    std::vector<Transport::Completion> done;
    while (done.size() < static_cast<size_t>(transport_->slots())) {
      EXPECT_TRUE(Step());
      const absl::Status status = transport_->Poll(BenchClock::now(), &done);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok() || BenchClock::now() > deadline) break;
    }
    std::map<int, bool> ended;
    for (const Transport::Completion& completion : done) ended[completion.slot] = completion.ok;
    return ended;
  }

  // The bytes that answer `bytes` in one call, which may be anything.
  std::string Ask(const char* path, const std::string& bytes, uint64_t responses = 0) {
    auto connection = GrpcConnection::Connect(Server(), {path, responses});
    EXPECT_TRUE(connection.ok());
    Accept();
    GrpcCall call;
    call.keep = true;
    EXPECT_TRUE((*connection)->Start(&call, bytes).ok());
    const BenchTime deadline = BenchClock::now() + std::chrono::seconds(20);
    std::vector<GrpcCall*> done;
    while (done.empty() && BenchClock::now() < deadline) {
      EXPECT_TRUE((*connection)->Flush().ok());
      EXPECT_TRUE(Step());
      EXPECT_TRUE((*connection)->Read(&done).ok());
    }
    EXPECT_FALSE(done.empty());
    return call.Succeeded({path, responses}) ? call.answer : "no success";
  }

  EchoOptions options_;
  int listener_ = -1;
  std::string address_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<EchoConnection> echo_;
};

TEST_F(EchoConnectionTest, AnswersWithTheMessage) {
  for (const std::string& message : {"any bytes"s, ""s, std::string(100'000, 'm')}) {
    EXPECT_EQ(Ask(kUnary, WithGrpcPrefix(message)), WithGrpcPrefix(message));
  }
}

TEST_F(EchoConnectionTest, AnswersWithTheHeadAndTheTail) {
  options_.head = "head:";
  options_.tail_bytes = 4;
  EXPECT_EQ(Ask(kUnary, WithGrpcPrefix("a request, data")), WithGrpcPrefix("head:data"));
  EXPECT_EQ(Ask(kUnary, WithGrpcPrefix("data")), WithGrpcPrefix("head:data"));
}

// Several rounds, so that memory is used again.
TEST_F(EchoConnectionTest, ManyCallsAtATime) {
  options_.head = "\x32\x04";
  options_.tail_bytes = 4;
  Connect("request data", 300);
  for (int round = 0; round < 3; ++round) {
    const std::map<int, bool> ended = RoundTrip();
    ASSERT_EQ(ended.size(), 300u);
    for (const auto& [slot, ok] : ended) {
      EXPECT_TRUE(ok);
      EXPECT_EQ(transport_->answer(slot), "data");
    }
  }
}

// Larger than any window, frame or socket buffer.
TEST_F(EchoConnectionTest, LargeMessages) {
  std::string tensor(20 << 20, 0);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<char>(i * 31 >> 5);
  options_.head = "\x32\x80\x80\x80\x0a"s;
  options_.tail_bytes = tensor.size();
  Connect("request " + tensor, 4);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, true}, {1, true}, {2, true}, {3, true}}));
    for (int slot = 0; slot < 4; ++slot) EXPECT_TRUE(transport_->answer(slot) == tensor);
  }
}

TEST_F(EchoConnectionTest, EachMessageOfAStreamIsAnsweredAsItArrives) {
  options_.head = "\x12\x06\x32\x04";
  options_.tail_bytes = 12;
  options_.responses = 3;
  Connect("request one,two,six,", 2, 3);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, true}, {1, true}}));
    for (int slot = 0; slot < 2; ++slot) EXPECT_EQ(transport_->answer(slot), "one,two,six,");
  }
}

TEST_F(EchoConnectionTest, SeveralMessagesOfACall) {
  const std::string messages =
      WithGrpcPrefix("one") + WithGrpcPrefix("") + WithGrpcPrefix(std::string(9000, 'x'));
  EXPECT_EQ(Ask(kStream, messages, 3), messages);
}

TEST_F(EchoConnectionTest, AMessageShorterThanTheTailIsReset) {
  options_.tail_bytes = 5;
  EXPECT_EQ(Ask(kUnary, WithGrpcPrefix("four")), "no success");
}

TEST_F(EchoConnectionTest, ACompressedMessageIsReset) {
  EXPECT_EQ(Ask(kUnary, "\1\0\0\0\4four"s), "no success");
}

// Only the trailers answer it, which is no success for a unary call.
TEST_F(EchoConnectionTest, HalfAMessageIsNotAnswered) {
  EXPECT_EQ(Ask(kUnary, "\0\0\0\0\5four"s), "no success");
  EXPECT_EQ(Ask(kUnary, "\0\0"s), "no success");
}

TEST_F(EchoConnectionTest, AnotherProtocolEndsTheConnection) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  socklen_t size = sizeof at;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  Accept();
  const absl::string_view text = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_EQ(send(client, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  EXPECT_FALSE(Step());
  close(client);
}

TEST_F(EchoConnectionTest, ALostConnectionEndsIt) {
  Connect("request", 1);
  EXPECT_TRUE(Step());
  transport_.reset();
  while (Step()) {
  }
}

}  // namespace
}  // namespace nereid::bench
