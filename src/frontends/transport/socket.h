// SPDX-License-Identifier: Apache-2.0
// The socket type of the transport: its executor is the concrete one of an io_context, which
// saves the type erasure on every operation.
#ifndef NEREID_FRONTENDS_TRANSPORT_SOCKET_H_
#define NEREID_FRONTENDS_TRANSPORT_SOCKET_H_

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace nereid::transport {

using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor>;

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_SOCKET_H_
