// SPDX-License-Identifier: Apache-2.0
// Socket operations of both transports: connect, watch, wait. Stateless, thread-safe.
#ifndef NEREID_APPS_LOADGEN_SOCKETS_H_
#define NEREID_APPS_LOADGEN_SOCKETS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "apps/loadgen/transport.h"

namespace nereid::bench {

// UNAVAILABLE with `what` and the text of errno.
absl::Status SystemError(absl::string_view what);

// A TCP connection to "a.b.c.d:port" or "[IPv6]:port" that sends at once (TCP_NODELAY); the caller
// closes it. Waits for at most ten seconds. INVALID_ARGUMENT for another address, UNAVAILABLE if
// nobody listens.
absl::StatusOr<int> ConnectTcp(const std::string& address);

// Sends a beginning of `pieces` to a socket and returns its length, 0 if the socket takes nothing
// at present. UNAVAILABLE if the connection is lost.
absl::StatusOr<size_t> SendTo(int fd, absl::Span<const iovec> pieces);

// A new epoll; the caller closes it.
absl::StatusOr<int> MakeEpoll();

// epoll_ctl with `events`; the events carry `id`.
absl::Status Watch(int epoll, int operation, int fd, uint32_t events, int id);

// Waits until something happens or `until` has passed. Returns how many `events` were filled in.
absl::StatusOr<int> WaitForEvents(int epoll, BenchTime until, absl::Span<epoll_event> events);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_SOCKETS_H_
