// SPDX-License-Identifier: Apache-2.0
// Faults for a running server, as a library to be preloaded.
//
//   NEREID_FAULTS=seed=7,threads=200,files=300,shorts=20 LD_PRELOAD=libnereid_faults.so nereid ...
//
// On average one in the given number of thread creations, and of file openings and readings, fails.
// One in the given number of reads and sends is cut short, which must have no visible effect.
// Allocations never fail here, because the program has its own allocator.
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/conformance/capi/faults/faults.h"

namespace {

using nereid_test::faults::Rates;

uint32_t Number(const char* text, const char* key) {
  const char* const found = strstr(text, key);
  return found == nullptr ? 0 : static_cast<uint32_t>(strtoul(found + strlen(key), nullptr, 10));
}

Rates g_rates;
uint32_t g_seed = 0;
bool g_on = false;  // the handler's own

void Toggle(int) {
  if (std::exchange(g_on, !g_on)) {
    nereid_test::faults::StopRandom();
  } else {
    nereid_test::faults::StartRandom(g_seed, g_rates);
  }
}

__attribute__((constructor)) void Start() {
  const char* const text = getenv("NEREID_FAULTS");
  if (text == nullptr) return;
  g_seed = Number(text, "seed=");
  g_rates.threads = Number(text, "threads=");
  g_rates.files = Number(text, "files=");
  g_rates.shorts = Number(text, "shorts=");
  signal(SIGUSR2, Toggle);
}

// Sends the first half of `message`.
long SendHalf(int socket, const msghdr* message, int flags) {
  size_t left = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i) left += message->msg_iov[i].iov_len;
  left = (left + 1) / 2;
  std::vector<iovec> pieces;
  for (size_t i = 0; i < message->msg_iovlen && left > 0; ++i) {
    pieces.push_back(message->msg_iov[i]);
    pieces.back().iov_len = std::min(pieces.back().iov_len, left);
    left -= pieces.back().iov_len;
  }
  msghdr half = *message;
  half.msg_iov = pieces.data();
  half.msg_iovlen = pieces.size();
  static const auto real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  return real(SYS_sendmsg, socket, &half, flags);
}

}  // namespace

// The program sends with the system call itself.
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (long& one : a) one = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_sendmsg && nereid_test::faults::Short()) {
    return SendHalf(static_cast<int>(a[0]), reinterpret_cast<const msghdr*>(a[1]),
                    static_cast<int>(a[2]));
  }
  static const auto real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
