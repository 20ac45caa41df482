// SPDX-License-Identifier: Apache-2.0
// Doorbell: how other threads wake the thread of an io_context.
//
// boost::asio::post does that, too, but while it holds a lock of the io_context. Where both threads
// share a core, the woken one runs at once, finds the lock taken, and sleeps again until the other
// one has released it: two changes of threads more for every wake-up.
#ifndef NEREID_FRONTENDS_TRANSPORT_DOORBELL_H_
#define NEREID_FRONTENDS_TRANSPORT_DOORBELL_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>

namespace nereid::transport {

class Doorbell {
 public:
  // Calls `on_ring` on the thread of `context` after one or more rings. Throws
  // boost::system::system_error if the process has no descriptor left. The io_context does not run
  // out of work before Disconnect.
  Doorbell(boost::asio::io_context& context, std::function<void()> on_ring);

  // Thread-safe, also against Disconnect. Whoever calls it keeps the object alive.
  void Ring() noexcept;
  // No call comes any more. On the context's thread.
  void Disconnect();

 private:
  // The next ring.
  void Await();

  boost::asio::posix::stream_descriptor bell_;  // open until the end, for late calls of Ring
  const int fd_;
  const std::function<void()> on_ring_;
  uint64_t rings_ = 0;  // since the last call; has to be read, but is of no use
  bool disconnected_ = false;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_DOORBELL_H_
