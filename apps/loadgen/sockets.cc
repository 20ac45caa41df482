// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/sockets.h"

#include <absl/strings/str_cat.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace nereid::bench {
namespace {

constexpr time_t kPatienceSeconds = 10;

}  // namespace

absl::Status SystemError(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::StatusOr<int> ConnectTcp(const std::string& address) {
  const size_t colon = std::min(address.rfind(':'), address.size());
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (colon == address.size() ||
      getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("no IP address and port: ", address));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> to(found, &freeaddrinfo);
  const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError("socket");
  // For the connection and the handshake of TLS; whatever comes after never waits.
  const timeval patience{kPatienceSeconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(fd, to->ai_addr, to->ai_addrlen) != 0) {
    if (errno == EINPROGRESS) errno = ETIMEDOUT;
    const absl::Status error = SystemError(absl::StrCat("connect to ", address));
    close(fd);
    return error;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

absl::StatusOr<size_t> SendTo(int fd, absl::Span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  for (;;) {
    const ssize_t written = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written >= 0) return static_cast<size_t>(written);
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return SystemError("send");
  }
}

absl::StatusOr<int> MakeEpoll() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return SystemError("epoll");
  return epoll;
}

absl::Status Watch(int epoll, int operation, int fd, uint32_t events, int id) {
  epoll_event event{};
  event.events = events;
  event.data.u32 = static_cast<uint32_t>(id);
  return epoll_ctl(epoll, operation, fd, &event) == 0 ? absl::OkStatus() : SystemError("epoll");
}

absl::StatusOr<int> WaitForEvents(int epoll, BenchTime until, absl::Span<epoll_event> events) {
  const auto left = std::max<int64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(until - BenchClock::now()).count(), 0);
  const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
  const int count =
      epoll_pwait2(epoll, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  if (count >= 0) return count;
  if (errno == EINTR) return 0;
  return SystemError("epoll");
}

}  // namespace nereid::bench
