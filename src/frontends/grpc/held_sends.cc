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

// A client that waits and a server that works would otherwise take turns: the first answers leave
// while the last are made.
constexpr int kMaxHeld = 4;

// The sockets that the thread has sent on. Beyond what has place here nothing is held.
struct Held {
  bool holding = false;
  size_t count = 0;
  std::array<int, 64> sockets;
  int sends = 0;  // since one was not held
};
thread_local Held held;

// Whether what is sent on `socket` now may wait for more.
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
    // Sends what waits, also where the option is set already (tcp(7)). Fails for a socket that is
    // closed by now, or is none of TCP: then nothing waits.
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
