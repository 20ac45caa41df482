// SPDX-License-Identifier: Apache-2.0
// What an I/O loop knows of the connections that live on it, and of the answers that other threads
// leave for it.
#ifndef NEREID_FRONTENDS_TRANSPORT_LOOP_CONNECTION_H_
#define NEREID_FRONTENDS_TRANSPORT_LOOP_CONNECTION_H_

#include <memory>
#include <optional>

#include "base/clock.h"

namespace nereid::transport {

// Something that waits for the loop's thread: a connection or one of its requests.
class Delivery {
 public:
  virtual ~Delivery() = default;
  // On the loop's thread, once per IoLoop::Deliver.
  virtual void OnDelivery() = 0;
};

// One client. Owned by the operations and requests that are pending on it; all methods run on the
// loop's thread.
class LoopConnection : public std::enable_shared_from_this<LoopConnection> {
 public:
  virtual ~LoopConnection() = default;
  // Registers with the loop and begins to read.
  virtual void Start() = 0;
  // Called periodically; checks what no event reports, such as deadlines.
  virtual void Sweep(TimePoint now) = 0;
  // Tells the client to use another connection, if the protocol has a word for that; what it has
  // begun goes on.
  virtual void Announce() {}
  // The server is stopping: closes as soon as nothing is in flight.
  virtual void OnDrain() = 0;
  // Closes now; requests in flight are cancelled.
  virtual void Abort() = 0;
  // Since when the client has had nothing under way; none: it has something.
  virtual std::optional<TimePoint> IdleSince() const { return std::nullopt; }
  // Closes a connection that is idle, to make room, after telling the client so as far as that is
  // possible at once.
  virtual void LetGo() { Abort(); }
  // The end of a turn for which the connection has asked by IoLoop::AtEndOfTurn.
  virtual void OnEndOfTurn() {}
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_LOOP_CONNECTION_H_
