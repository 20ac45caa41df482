// SPDX-License-Identifier: Apache-2.0
// Which process has an address that another one wants, as far as /proc shows it. Stateless.
#ifndef NEREID_FRONTENDS_TRANSPORT_PORT_HOLDER_H_
#define NEREID_FRONTENDS_TRANSPORT_PORT_HOLDER_H_

#include <sys/types.h>

#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <optional>
#include <string>

namespace nereid::transport {

struct PortHolder {
  pid_t pid = 0;        // 0: /proc does not show this process which one it is
  std::string command;  // its name; empty without a process
  std::string user;     // the number of the user who owns the socket
};

// A process with a socket that stands in the way of `wanted`: one that listens rather than one of a
// connection. None: no such socket is shown, because it does not listen yet or has just gone. Reads
// files below `proc` and blocks for that long.
std::optional<PortHolder> FindPortHolder(const boost::asio::ip::tcp::endpoint& wanted,
                                         const std::filesystem::path& proc = "/proc");

// What an error says after "already in use ".
std::string HolderText(const boost::asio::ip::tcp::endpoint& wanted,
                       const std::optional<PortHolder>& holder);

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_PORT_HOLDER_H_
