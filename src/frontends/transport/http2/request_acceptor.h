// SPDX-License-Identifier: Apache-2.0
// RequestAcceptor: what a port does with the requests of its HTTP/2 connections; Peer: the other
// end of one.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_REQUEST_ACCEPTOR_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_REQUEST_ACCEPTOR_H_

#include <cstddef>
#include <memory>
#include <string>

#include "frontends/transport/account.h"

namespace nereid::http2 {

class Connection;
class Stream;
class StreamUser;

// The client of a connection as its requests see it. Used on the thread of the connection's loop.
class Peer {
 public:
  virtual ~Peer() = default;
  // Requests that are open.
  virtual size_t open_streams() const = 0;
  // What the client owes to the byte limit.
  virtual transport::Account* account() = 0;
  // A request was given up because the client sent or read too slowly.
  virtual void CountSlowClient() = 0;
  // Address and port of the client; empty if it is not known.
  virtual std::string address() const { return ""; }
};

// Decides what becomes of each request. Called on the loops' threads.
class RequestAcceptor {
 public:
  virtual ~RequestAcceptor() = default;
  // As SessionEvents::OnRequest.
  virtual std::shared_ptr<StreamUser> OnRequest(const std::shared_ptr<Stream>& stream,
                                                const std::shared_ptr<Connection>& connection) = 0;
  // As SessionEvents::OnHeadTooLarge.
  virtual bool OnHeadTooLarge(Stream* /*stream*/) { return false; }
  // As SessionEvents::OnNoRoom.
  virtual bool OnNoRoom(Stream* /*stream*/, const absl::Status& /*why*/) { return false; }
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_REQUEST_ACCEPTOR_H_
