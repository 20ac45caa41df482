// SPDX-License-Identifier: Apache-2.0
// Endpoint: where a load goes, and what all its requests have in common. A plain value.
#ifndef NEREID_APPS_LOADGEN_ENDPOINT_H_
#define NEREID_APPS_LOADGEN_ENDPOINT_H_

#include <string>
#include <utility>
#include <vector>

#include "apps/loadgen/client_socket.h"

namespace nereid::bench {

struct Endpoint {
  std::string address;             // "a.b.c.d:port" or "[IPv6]:port"
  std::string authority;           // the server's name for the server; empty: the address
  const ClientTls* tls = nullptr;  // null: plain connections; lives as long as the transport
  // Sent with every request; names in lower case.
  std::vector<std::pair<std::string, std::string>> headers;

  const std::string& Authority() const { return authority.empty() ? address : authority; }
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_ENDPOINT_H_
