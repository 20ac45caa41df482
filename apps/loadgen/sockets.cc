#include "apps/loadgen/sockets.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nereid::bench {

absl::Status SystemError(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::StatusOr<int> ConnectTcp(const std::string& address) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  int port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) ||
      inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("no IPv4 address and port: ", address));
  }
  to.sin_port = htons(static_cast<uint16_t>(port));
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError("socket");
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
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
