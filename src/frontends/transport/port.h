// SPDX-License-Identifier: Apache-2.0
// Port: an address on which a frontend serves: the listener, the event loops, and the account of
// the connections.
//
// Open and Stop are called by one thread at a time; the other methods are thread-safe.
#ifndef NEREID_FRONTENDS_TRANSPORT_PORT_H_
#define NEREID_FRONTENDS_TRANSPORT_PORT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "frontends/transport/channel.h"
#include "frontends/transport/connection_room.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/listener.h"
#include "frontends/transport/tls_context.h"

namespace nereid::transport {

struct PortOptions {
  ListenOptions listen;
  IoLoopOptions loop;
  int loops = 1;
  std::string thread_name;          // of the loops' threads, to which their number is appended
  std::string connections_name;     // of the account of connections, see Budget
  uint64_t max_connections = 0;     // beyond: refused; 0: unlimited
  std::string connections_option;   // the option that sets max_connections
  std::shared_ptr<TlsContext> tls;  // null: plain bytes
  // Shared with other ports; null: each connection finds a descriptor, or has to wait for one.
  std::shared_ptr<ConnectionRoom> room;
  bool goes_last = false;  // see ConnectionRoom::Member
  // Connections take of the room, and are refused when it is full. Otherwise they may use the
  // descriptors that are kept back, and the room only helps when these are used up, too.
  bool counts = true;
};

// Makes the connection of a channel that was accepted. `slot` counts it. Called on any thread.
using MakeChannelConnection = std::function<std::shared_ptr<LoopConnection>(
    std::shared_ptr<IoLoop> loop, Channel channel, BudgetUnits slot)>;

class Port {
 public:
  Port(PortOptions options, MakeChannelConnection make);
  // REQUIRES: stopped, or never opened.
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // Listens and starts the threads. Errors of Listener::Open.
  absl::Status Open();
  // The number of the port that is listened on.
  uint16_t number() const { return listener_.port(); }
  const Budget& connections() const { return connections_; }

  // Tells the clients of all present connections to use others; what they have begun goes on.
  // REQUIRES: open.
  void Announce();
  // Accepts no more connections. REQUIRES: open; not called on an I/O thread.
  void Close() { listener_.Stop(); }
  // Lets requests in flight finish until `deadline` (of the loops' clock), cancels the others, and
  // ends the threads. REQUIRES: as for Close, which was called.
  void Stop(TimePoint deadline);

 private:
  const PortOptions options_;
  Budget connections_;
  const std::vector<std::shared_ptr<IoLoop>> loops_;
  Listener listener_;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_PORT_H_
