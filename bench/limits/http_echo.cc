// SPDX-License-Identifier: Apache-2.0
// A minimal HTTP server on epoll: one thread, raw sockets, a search for the end of the head and for
// Content-Length. Runs until a signal kills it.
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/limits/echo_options.h"
#include "bench/limits/http_request_size.h"

namespace nereid::bench {
namespace {

constexpr size_t kReadBytes = 512 << 10;

struct Connection {
  std::vector<char> in;  // as large as the largest request so far
  size_t filled = 0;
  size_t whole = 0;    // size of the request that arrives; 0: not known yet
  size_t written = 0;  // of the answer; only while `writing`
  bool writing = false;
  bool blocked = false;  // waits until the socket accepts more
};

class EchoServer {
 public:
  explicit EchoServer(const EchoOptions& options) : tail_bytes_(options.tail_bytes) {
    head_ = absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n",
                         "Inference-Header-Content-Length: ", options.head.size(),
                         "\r\nContent-Length: ", options.head.size() + options.tail_bytes,
                         "\r\n\r\n", options.head);
  }

  bool Listen(int port) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) return false;
    if (listen(listener_, 1024) != 0) return false;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    Watch(EPOLL_CTL_ADD, listener_, EPOLLIN);
    return epoll_ >= 0;
  }

  void Run() {
    std::array<epoll_event, 64> events;
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<size_t>(i)].data.fd;
        if (fd == listener_) {
          Accept();
        } else if (!Serve(fd, connections_[fd].get())) {
          connections_.erase(fd);
          close(fd);
        }
      }
    }
  }

 private:
  void Watch(int operation, int fd, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    epoll_ctl(epoll_, operation, fd, &event);
  }

  void Accept() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections_[fd] = std::make_unique<Connection>();
    Watch(EPOLL_CTL_ADD, fd, EPOLLIN);
  }

  // False if the connection has to be closed.
  bool Serve(int fd, Connection* connection) {
    if (connection->writing) return Write(fd, connection);
    const size_t room = std::max(connection->whole, connection->filled + 4096);
    if (connection->in.size() < room) connection->in.resize(room);
    const ssize_t got = recv(fd, connection->in.data() + connection->filled,
                             std::min(connection->in.size() - connection->filled, kReadBytes), 0);
    if (got <= 0) return got < 0 && errno == EAGAIN;
    connection->filled += static_cast<size_t>(got);
    if (connection->whole == 0 && !FindEnd(connection)) return false;
    if (connection->whole == 0 || connection->filled < connection->whole) return true;
    connection->writing = true;
    connection->written = 0;
    return Write(fd, connection);
  }

  // Finds the end of the request. False if it is not a request that can be echoed.
  bool FindEnd(Connection* connection) const {
    const auto size =
        nereid_bench::FindHttpRequestSize({connection->in.data(), connection->filled});
    if (!size) return false;
    connection->whole = size->whole;
    return size->whole == 0 || size->body >= tail_bytes_;
  }

  bool Write(int fd, Connection* connection) {
    const size_t total = head_.size() + tail_bytes_;
    while (connection->written < total) {
      const size_t from_head = std::min(connection->written, head_.size());
      const size_t from_tail = connection->written - from_head;
      std::array<iovec, 2> parts = {
          iovec{head_.data() + from_head, head_.size() - from_head},
          iovec{connection->in.data() + connection->whole - tail_bytes_ + from_tail,
                tail_bytes_ - from_tail}};
      const ssize_t written = writev(fd, parts.data(), 2);
      if (written < 0 && errno == EAGAIN) {
        if (!connection->blocked) Watch(EPOLL_CTL_MOD, fd, EPOLLOUT);
        connection->blocked = true;
        return true;
      }
      if (written < 0) return false;
      connection->written += static_cast<size_t>(written);
    }
    if (connection->blocked) Watch(EPOLL_CTL_MOD, fd, EPOLLIN);
    connection->blocked = false;
    connection->writing = false;
    connection->filled = 0;
    connection->whole = 0;
    return true;
  }

  const size_t tail_bytes_;
  std::string head_;
  int listener_ = -1;
  int epoll_ = -1;
  std::map<int, std::unique_ptr<Connection>> connections_;
};

}  // namespace
}  // namespace nereid::bench

int main(int argc, char** argv) {
  const auto options = nereid::bench::EchoOptions::Parse(argc, argv);
  if (!options) return 2;
  nereid::bench::EchoServer server(*options);
  if (!server.Listen(options->port)) {
    std::perror("http_echo: cannot listen");
    return 1;
  }
  server.Run();
}
