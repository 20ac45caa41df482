// SPDX-License-Identifier: Apache-2.0
// The least that an HTTP server can be: one connection, one thread, one fixed answer. What a
// framework takes behind it shows what the socket costs the framework, whatever the server does.
#ifndef NEREID_BENCH_LIMITS_BARE_SERVER_H_
#define NEREID_BENCH_LIMITS_BARE_SERVER_H_

#include <absl/strings/str_cat.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/limits/http_request_size.h"

namespace nereid_bench {

// Listens on the loopback address as soon as it is made. Waits with epoll, as servers do. Not
// thread-safe. Its members throw std::runtime_error if a call of the system fails.
class BareServer {
 public:
  // Answers with the body in `head_file` and the one in `tail_file`, after it: the JSON and the
  // tensor of a v2 response.
  BareServer(const std::string& head_file, const std::string& tail_file) {
    const std::string head = Contents(head_file);
    const std::string tail = Contents(tail_file);
    answer_ =
        absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n",
                     "Inference-Header-Content-Length: ", head.size(),
                     "\r\nContent-Length: ", head.size() + tail.size(), "\r\n\r\n", head, tail);
    listener_ = Check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    Check(bind(listener_, reinterpret_cast<sockaddr*>(&at), size), "bind");
    Check(listen(listener_, 1), "listen");
    Check(getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
    port_ = ntohs(at.sin_port);
  }
  BareServer(const BareServer&) = delete;
  BareServer& operator=(const BareServer&) = delete;
  ~BareServer() {
    for (const int fd : {listener_, epoll_, client_}) {
      if (fd >= 0) close(fd);
    }
  }

  uint16_t port() const { return port_; }

  // Calls `run` for each request of one client, between reading it and answering, until the client
  // leaves.
  template <typename Run>
  void Serve(Run run) {
    Accept();
    while (ReadRequest()) {
      run();
      Answer();
    }
  }

 private:
  static int Check(int result, const char* call) {
    if (result < 0) throw std::runtime_error(absl::StrCat(call, ": ", std::strerror(errno)));
    return result;
  }

  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(absl::StrCat("cannot read ", path));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void Accept() {
    client_ = Check(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), "accept4");
    const int on = 1;
    Check(setsockopt(client_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    epoll_ = Check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    epoll_event readable{};
    readable.events = EPOLLIN;
    Check(epoll_ctl(epoll_, EPOLL_CTL_ADD, client_, &readable), "epoll_ctl");
  }

  // False if the client has left.
  bool ReadRequest() {
    size_t filled = 0;
    HttpRequestSize size;
    while (size.whole == 0 || filled < size.whole) {
      const size_t room = std::max(size.whole, filled + 4096);
      if (in_.size() < room) in_.resize(room);
      epoll_event readable;
      if (epoll_wait(epoll_, &readable, 1, -1) < 0 && errno == EINTR) continue;
      const ssize_t got = recv(client_, in_.data() + filled, in_.size() - filled, 0);
      if (got <= 0) return false;
      filled += static_cast<size_t>(got);
      if (size.whole > 0) continue;
      const std::optional<HttpRequestSize> found = FindHttpRequestSize({in_.data(), filled});
      if (!found) throw std::runtime_error("the request has no Content-Length");
      size = *found;
    }
    return true;
  }

  void Answer() {
    for (size_t sent = 0; sent < answer_.size();) {
      const ssize_t now = send(client_, answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL);
      if (now < 0 && errno == EPIPE) return;  // the next read notices, too
      sent += static_cast<size_t>(Check(static_cast<int>(now), "send"));
    }
  }

  std::string answer_;
  std::vector<char> in_;  // as large as the largest request so far
  uint16_t port_ = 0;
  int listener_ = -1;
  int epoll_ = -1;
  int client_ = -1;
};

}  // namespace nereid_bench

#endif  // NEREID_BENCH_LIMITS_BARE_SERVER_H_
