// SPDX-License-Identifier: Apache-2.0
// A minimal gRPC server over nghttp2 and epoll: one thread, no gRPC library, messages as bytes that
// are not parsed. Runs until a signal kills it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "bench/limits/echo_options.h"
#include "bench/limits/nghttp2_echo_connection.h"

namespace nereid::bench {
namespace {

class EchoServer {
 public:
  explicit EchoServer(const EchoOptions* options) : options_(options) {}

  bool Listen() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<uint16_t>(options_->port));
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
        const epoll_event& event = events[static_cast<size_t>(i)];
        if (event.data.fd == listener_) {
          Accept();
        } else if (!Serve(connections_[event.data.fd].get(), event.events)) {
          connections_.erase(event.data.fd);  // closes it
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
    auto connection = std::make_unique<EchoConnection>(fd, options_);
    Watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    connections_[fd] = std::move(connection);
  }

  // One turn: reads once and sends all answers together. False if the connection has to be closed.
  bool Serve(EchoConnection* connection, uint32_t events) {
    if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0 && !connection->Read()) return false;
    const bool was_blocked = connection->blocked();
    if (!connection->Flush()) return false;
    if (connection->blocked() != was_blocked) {
      Watch(EPOLL_CTL_MOD, connection->fd(), was_blocked ? EPOLLIN : EPOLLIN | EPOLLOUT);
    }
    return true;
  }

  const EchoOptions* const options_;
  int listener_ = -1;
  int epoll_ = -1;
  std::map<int, std::unique_ptr<EchoConnection>> connections_;
};

}  // namespace
}  // namespace nereid::bench

int main(int argc, char** argv) {
  const auto options = nereid::bench::EchoOptions::Parse(argc, argv, /*raw=*/true);
  if (!options) return 2;
  nereid::bench::EchoServer server(&*options);
  if (!server.Listen()) {
    std::perror("nghttp2_echo: cannot listen");
    return 1;
  }
  server.Run();
}
