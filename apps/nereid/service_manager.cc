// SPDX-License-Identifier: Apache-2.0
#include "service_manager.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "base/log.h"

namespace nereid {
namespace {

// A manager that does not read must not hold up the server's start and end.
constexpr timeval kSendTimeout = {1, 0};

// Returns what is wrong; empty if nothing is.
std::string SendDatagram(const std::string& socket_name, const std::string& message) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket_name[0] != '/' && socket_name[0] != '@') {
    return "it has to be an absolute path, or begin with '@'";
  }
  if (socket_name.size() >= sizeof(address.sun_path)) {
    return absl::StrCat("it is longer than ", sizeof(address.sun_path) - 1, " bytes");
  }
  std::memcpy(address.sun_path, socket_name.data(), socket_name.size());
  size_t size = offsetof(sockaddr_un, sun_path) + socket_name.size();
  if (socket_name[0] == '@') {
    address.sun_path[0] = '\0';  // an abstract name; its length ends it
  } else {
    ++size;
  }
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::strerror(errno);
  const auto close_fd = absl::MakeCleanup([fd] { close(fd); });
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof(kSendTimeout));
  const ssize_t sent = sendto(fd, message.data(), message.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), size);
  return sent < 0 ? std::strerror(errno) : "";
}

}  // namespace

void ServiceManager::Loading() const { Send("STATUS=Loading models"); }

void ServiceManager::Ready() const { Send("READY=1\nSTATUS=Serving"); }

void ServiceManager::Stopping(Duration most) const {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(most).count();
  Send(absl::StrCat("STOPPING=1\nSTATUS=Finishing requests in flight\nEXTEND_TIMEOUT_USEC=",
                    microseconds));
}

void ServiceManager::Send(const std::string& message) const {
  if (socket_.empty()) return;
  const std::string wrong = SendDatagram(socket_, message);
  if (wrong.empty()) return;
  LOG_WARNING << "the service manager learns nothing: NOTIFY_SOCKET is '" << socket_
              << "': " << wrong;
}

}  // namespace nereid
