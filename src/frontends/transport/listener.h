// SPDX-License-Identifier: Apache-2.0
// Listener: accepts connections and distributes them to the loops in turn, which spreads few
// long-lived connections more evenly than letting the kernel choose among several sockets. Lives on
// the first loop's thread; Open and Stop are called from outside.
#ifndef NEREID_FRONTENDS_TRANSPORT_LISTENER_H_
#define NEREID_FRONTENDS_TRANSPORT_LISTENER_H_

#include <absl/status/status.h>

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "frontends/transport/bound_address.h"
#include "frontends/transport/connection_room.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/socket.h"

namespace nereid::transport {

struct ListenOptions {
  AddressToBind where;                  // for port 0, see Listener::port()
  std::shared_ptr<BoundAddress> bound;  // that address; null: it is not bound yet
  // What a connection over the limit is told before it is closed; null: nothing.
  std::function<std::string(const absl::Status& reason)> refusal;
  std::shared_ptr<ConnectionRoom> room;  // of the process; null: nobody knows it
  bool may_use_reserve = false;          // connections are accepted although the room is full
};

class Listener {
 public:
  // `loops` is not empty. `connections` limits and counts the connections and must outlive the
  // loops.
  Listener(ListenOptions options, std::vector<std::shared_ptr<IoLoop>> loops, Budget* connections);

  // Binds, unless that has been done, and listens. Errors of BoundAddress. REQUIRES: the loops do
  // not run yet.
  absl::Status Open();
  // Begins to accept. REQUIRES: Open succeeded.
  void Start();
  // Closes the listening socket and returns once no further connection will be passed on. REQUIRES:
  // not called on an I/O thread; the loops run.
  void Stop();

  uint16_t port() const { return port_; }

 private:
  // How often the log says that connections cannot be accepted.
  static constexpr Duration kLogInterval = std::chrono::minutes(1);

  void Accept();
  void OnAccept(const boost::system::error_code& error, Socket socket, IoLoop* loop);
  void Refuse(Socket socket, const absl::Status& reason);
  // Nothing can be accepted at present, because of `error`.
  void OnFault(const boost::system::error_code& error);
  void AcceptLater();
  // Lets idle connections go, and then accepts again. Does not wait for loops that are busy.
  void MakeRoom();
  void OnRoomMade(uint64_t search, size_t gone);

  const ListenOptions options_;
  const std::vector<std::shared_ptr<IoLoop>> loops_;
  Budget* const connections_;
  Acceptor acceptor_;
  boost::asio::steady_timer retry_timer_;
  // Of the first loop's thread.
  uint64_t search_ = 0;    // counts the calls of MakeRoom, and their ends
  TimePoint next_search_;  // the last one found nobody to let go
  bool faulty_ = false;    // nothing could be accepted when it began
  uint64_t faults_ = 0;    // since the last line about them
  TimePoint next_fault_line_;
  size_t next_loop_ = 0;
  uint16_t port_ = 0;
  bool owner_only_ = false;  // of a Unix socket: only programs of the same user, and of root
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_LISTENER_H_
