// SPDX-License-Identifier: Apache-2.0
// GrpcHeaders: the HPACK blocks of a client whose requests all have the same headers, written as
// gRPC's own clients do: in full the first time, and as table indices afterwards. nghttp2 would
// send the path in full each time, which would cost the server time. Immutable.
#ifndef NEREID_APPS_LOADGEN_GRPC_HEADERS_H_
#define NEREID_APPS_LOADGEN_GRPC_HEADERS_H_

#include <absl/strings/string_view.h>

#include <string>

#include "apps/loadgen/endpoint.h"

namespace nereid::bench {

struct GrpcHeaders {
  std::string first;  // the block of the first request on a connection
  std::string later;  // the block of all later requests

  // For the method `path` on a server. The endpoint's own headers are sent in full each time,
  // marked as those that no proxy may keep in a table, because they may be keys. REQUIRES: less
  // than 12 KiB together.
  static GrpcHeaders Make(const Endpoint& endpoint, absl::string_view path);
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_GRPC_HEADERS_H_
