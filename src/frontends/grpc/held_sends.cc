#include "frontends/grpc/held_sends.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>

namespace nereid {
namespace {

// Otherwise a waiting client and a working server would take turns: the first answers must leave
// while the last are being made.
constexpr int kMaxHeld = 4;

// The sockets on which the thread has sent. Sockets that find no place here are not held.
struct Held {
  bool holding = false;
  size_t count = 0;
  std::array<int, 64> sockets;
  int sends = 0;  // since the last one that was not held
};
thread_local Held held;

// Whether bytes sent on `socket` now may wait for more.
bool Hold(int socket) {
  if (++held.sends >= kMaxHeld) {
    held.sends = 0;
    return false;
  }
  for (size_t i = 0; i < held.count; ++i) {
    if (held.sockets[i] == socket) return true;
  }
  if (held.count == held.sockets.size()) return false;
  held.sockets[held.count++] = socket;
  return true;
}

}  // namespace

HeldSends::HeldSends() {
  assert(!held.holding);
  held.holding = true;
}

HeldSends::~HeldSends() {
  const int error = errno;
  held.holding = false;
  for (size_t i = 0; i < held.count; ++i) {
    // Sends held bytes, even if the option is already set (tcp(7)). Fails for a socket that is
    // closed by now or is not TCP; nothing is held then.
    const int on = 1;
    setsockopt(held.sockets[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  held.count = 0;
  held.sends = 0;
  errno = error;
}

}  // namespace nereid

extern "C" __attribute__((visibility("default"))) ssize_t sendmsg(int socket,
                                                                  const struct msghdr* message,
                                                                  int flags) {
  if (nereid::held.holding && nereid::Hold(socket)) flags |= MSG_MORE;
  return syscall(SYS_sendmsg, socket, message, flags);
}
