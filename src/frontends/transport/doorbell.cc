// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/doorbell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

namespace nereid::transport {
namespace {

int MakeEventFd() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    throw boost::system::system_error(errno, boost::system::system_category(), "eventfd");
  }
  return fd;
}

}  // namespace

Doorbell::Doorbell(boost::asio::io_context& context, std::function<void()> on_ring)
    : bell_(context, MakeEventFd()), fd_(bell_.native_handle()), on_ring_(std::move(on_ring)) {
  Await();
}

void Doorbell::Ring() noexcept {
  const uint64_t one = 1;
  // It can only fail when it has rung 2^64 times unheard; then it need not ring again.
  while (write(fd_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void Doorbell::Disconnect() {
  disconnected_ = true;
  bell_.cancel();
}

void Doorbell::Await() {
  bell_.async_read_some(boost::asio::buffer(&rings_, sizeof(rings_)),
                        [this](const boost::system::error_code& error, size_t) {
                          // A ring noticed before the cancellation does not report that.
                          if (error || disconnected_) return;
                          // First, so that a ring during the call is not missed.
                          Await();
                          on_ring_();
                        });
}

}  // namespace nereid::transport
