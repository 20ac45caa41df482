// SPDX-License-Identifier: Apache-2.0
#include "bench/limits/bare_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

namespace nereid_bench {
namespace {

TEST(HttpRequestSizeTest, TheEndIsFoundWhenTheHeadIsWhole) {
  const std::string request = "POST /x HTTP/1.1\r\nContent-Length: 12\r\nHost: y\r\n\r\n";
  for (size_t size = 0; size < request.size(); ++size) {
    const auto found = FindHttpRequestSize({request.data(), size});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->whole, 0u);
  }
  const auto found = FindHttpRequestSize(request + "abc");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->whole, request.size() + 12);
  EXPECT_EQ(found->body, 12u);
}

TEST(HttpRequestSizeTest, OtherHeadsAreRefused) {
  EXPECT_FALSE(FindHttpRequestSize("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(FindHttpRequestSize("GET / HTTP/1.1\r\n\r\n\r\nContent-Length: 1\r\n\r\n"));
  EXPECT_FALSE(FindHttpRequestSize("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"));
  EXPECT_FALSE(
      FindHttpRequestSize("GET / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n"));
}

class BareServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(head_) << "{}";
    std::ofstream(tail_) << "tensor";
  }
  void TearDown() override {
    std::remove(head_.c_str());
    std::remove(tail_.c_str());
  }

  const std::string head_ = ::testing::TempDir() + "bare_server_test.head";
  const std::string tail_ = ::testing::TempDir() + "bare_server_test.tail";
};

// A connection to a port of the loopback address.
class Client {
 public:
  explicit Client(uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  }
  ~Client() { close(fd_); }

  void Send(const std::string& text) const {
    EXPECT_EQ(send(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }

  // Up to and including `end`.
  std::string ReceiveTo(const std::string& end) const {
    std::string got;
    std::array<char, 256> part;
    while (!got.ends_with(end)) {
      const ssize_t size = recv(fd_, part.data(), part.size(), 0);
      if (size <= 0) return "closed after: " + got;
      got.append(part.data(), static_cast<size_t>(size));
    }
    return got;
  }

 private:
  const int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

TEST_F(BareServerTest, RunsOnceForEachRequestUntilTheClientLeaves) {
  BareServer server(head_, tail_);
  int runs = 0;
  std::thread serving([&] { server.Serve([&] { ++runs; }); });
  {
    const Client client(server.port());
    const std::string large(100'000, 'x');
    for (const std::string& body : {std::string("abc"), large, std::string()}) {
      client.Send("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n");
      client.Send("\r\n" + body);
      EXPECT_EQ(client.ReceiveTo("tensor"),
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                "Inference-Header-Content-Length: 2\r\nContent-Length: 8\r\n\r\n{}tensor");
    }
    client.Send("POST / HTTP/1.1\r\n");  // only a part
  }
  serving.join();
  EXPECT_EQ(runs, 3);
}

TEST_F(BareServerTest, MissingFilesAreNamed) {
  try {
    BareServer server(head_, tail_ + "x");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "cannot read " + tail_ + "x");
  }
}

}  // namespace
}  // namespace nereid_bench
