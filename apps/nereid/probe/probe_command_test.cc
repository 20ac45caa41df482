// SPDX-License-Identifier: Apache-2.0
// What `nereid probe` makes of answers that no server of ours gives. Those that it gives:
// tests/e2e/test_probe.py.
#include "probe/probe_command.h"

#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace nereid {
namespace {

using ::testing::HasSubstr;

// A port of this machine that takes connections. With Answer, one client is sent a text.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    EXPECT_EQ(listen(fd_, 8), 0);
  }
  ~Listener() {
    if (thread_.joinable()) thread_.join();
    if (fd_ >= 0) close(fd_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void Answer(std::string text) {
    thread_ = std::thread([this, text = std::move(text)] {
      const int client = accept(fd_, nullptr, nullptr);
      (void)send(client, text.data(), text.size(), MSG_NOSIGNAL);  // it may hear enough early
      shutdown(client, SHUT_WR);
      std::string rest(4096, '\0');  // a close with unread bytes would reset the connection
      while (recv(client, rest.data(), rest.size(), 0) > 0) {
      }
      close(client);
    });
  }
  void Close() {
    close(fd_);
    fd_ = -1;
  }
  std::string Url(const char* scheme) const { return absl::StrCat(scheme, "://127.0.0.1:", port_); }

 private:
  int fd_;
  int port_ = 0;
  std::thread thread_;
};

struct Said {
  int exit_status;
  std::string text;
};

Said Probe(const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream err;
  const int exit_status = ProbeCommand(args, "", out, err);
  return {exit_status, out.str() + err.str()};
}

TEST(ProbeCommandTest, HttpAnswers) {
  struct Case {
    const char* answer;
    int exit_status;
    const char* text;
  };
  for (const Case& c : std::vector<Case>{
           {"HTTP/1.1 200 OK\r\n\r\n", 0, " is ready.\n"},
           {"HTTP/1.0 200 OK\r\n\r\n", 0, " is ready.\n"},
           {"HTTP/1.1 400 Bad Request\r\n\r\n", 1, " is not ready: it answers HTTP 400.\n"},
           {"HTTP/1.1 503 x\r\nA: b\r\n\r\nnot\n\x1bnow", 1, "it answers HTTP 503: not  now.\n"},
           {"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", 1, "it answers HTTP 302.\n"},
           {"SSH-2.0-OpenSSH_9\r\n", 1, "it does not speak HTTP/1.1.\n"},
           {"HTTP/1.1 2000 OK\r\n\r\n", 1, ": it does not speak HTTP/1.1.\n"},
           {"", 1,
            "the connection has ended without an answer (a port with TLS wants https or grpcs in "
            "the "
            "URL).\n"}}) {
    Listener listener;
    listener.Answer(c.answer);
    const Said said = Probe({"--url=" + listener.Url("http")});
    EXPECT_EQ(said.exit_status, c.exit_status) << c.answer;
    EXPECT_THAT(said.text, HasSubstr(c.text));
    EXPECT_THAT(said.text, HasSubstr(listener.Url("http")));
  }
}

TEST(ProbeCommandTest, AnAnswerWithoutEndIsCut) {
  Listener listener;
  listener.Answer("HTTP/1.1 500 x\r\n\r\n" + std::string(1 << 20, 'a'));
  const Said said = Probe({"--url=" + listener.Url("http")});
  EXPECT_EQ(said.exit_status, 1);
  EXPECT_LT(said.text.size(), 1000U);
}

TEST(ProbeCommandTest, WhatSpeaksNoGrpc) {
  for (const char* answer : {"HTTP/1.1 400 Bad Request\r\n\r\n", ""}) {
    Listener listener;
    listener.Answer(answer);
    const Said said = Probe({"--url=" + listener.Url("grpc")});
    EXPECT_EQ(said.exit_status, 1);
    EXPECT_THAT(said.text, HasSubstr("No answer from " + listener.Url("grpc")));
  }
}

TEST(ProbeCommandTest, WhatSpeaksNoTls) {
  Listener listener;
  listener.Answer("HTTP/1.1 400 Bad Request\r\n\r\n");
  const Said said = Probe({"--url=" + listener.Url("https")});
  EXPECT_EQ(said.exit_status, 1);
  EXPECT_THAT(said.text,
              HasSubstr("it does not speak TLS: the URL has to begin with http or grpc"));
}

TEST(ProbeCommandTest, SilenceEndsWithTheTimeout) {
  const Listener listener;  // takes the connection, but never answers
  const Said said = Probe({"--url=" + listener.Url("http"), "--timeout-s=0.05"});
  EXPECT_EQ(said.exit_status, 1);
  EXPECT_EQ(said.text, "No answer from " + listener.Url("http") + " within 0.05 s.\n");
}

TEST(ProbeCommandTest, NothingListens) {
  Listener listener;
  listener.Close();
  const Said said = Probe({"--url=" + listener.Url("http")});
  EXPECT_EQ(said.exit_status, 1);
  EXPECT_EQ(said.text, "No answer from " + listener.Url("http") + ": nothing listens there.\n");
}

TEST(ProbeCommandTest, WrongArguments) {
  const Said said = Probe({"--bogus"});
  EXPECT_EQ(said.exit_status, 2);
  EXPECT_EQ(said.text,
            "nereid probe: unknown option --bogus\n`nereid probe --help` lists the options.\n");
}

}  // namespace
}  // namespace nereid
