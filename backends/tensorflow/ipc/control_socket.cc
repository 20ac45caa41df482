// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/ipc/control_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace nereid_tensorflow {
namespace {

constexpr size_t kPrefix = sizeof(uint64_t);

// Calls sendmsg once. Returns the number of bytes sent, or -1.
ssize_t SendSome(int fd, std::string_view bytes, int fd_to_pass) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd_to_pass >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* const item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &fd_to_pass, sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(fd, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace

bool ControlSocket::Send(std::string_view bytes, int fd_to_pass) {
  const uint64_t size = bytes.size();
  std::string framed(kPrefix, '\0');
  std::memcpy(framed.data(), &size, kPrefix);
  framed.append(bytes);
  std::string_view rest = framed;
  while (!rest.empty()) {
    const ssize_t sent = SendSome(fd_.get(), rest, fd_to_pass);
    if (sent <= 0) return false;
    rest.remove_prefix(static_cast<size_t>(sent));
    fd_to_pass = -1;
  }
  return true;
}

bool ControlSocket::Receive(bool wait) {
  char buffer[16384];
  iovec part{buffer, sizeof(buffer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do {
    got = recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (got < 0 && errno == EINTR);
  if (got < 0 && !wait && errno == EAGAIN) return true;
  if (got <= 0) return false;
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(item), sizeof(fd));
    received_fd_ = UniqueFd(fd);
  }
  received_.append(buffer, static_cast<size_t>(got));
  uint64_t size = 0;
  if (received_.size() >= kPrefix) std::memcpy(&size, received_.data(), kPrefix);
  return size <= kMaxMessage;
}

std::optional<ControlSocket::Message> ControlSocket::Next() {
  uint64_t size = 0;
  if (received_.size() < kPrefix) return std::nullopt;
  std::memcpy(&size, received_.data(), kPrefix);
  if (received_.size() - kPrefix < size) return std::nullopt;
  Message message{received_.substr(kPrefix, size), std::move(received_fd_)};
  received_.erase(0, kPrefix + size);
  return message;
}

}  // namespace nereid_tensorflow
