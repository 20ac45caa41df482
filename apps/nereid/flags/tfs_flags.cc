// SPDX-License-Identifier: Apache-2.0
#include <absl/status/status.h>

#include "base/status_macros.h"
#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

absl::Status OpenTfsPort(absl::string_view value, bool* allow, uint16_t* port) {
  int64_t number = 0;
  RETURN_IF_ERROR(ParseInteger(value, 0, 65535, &number));
  *allow = true;
  *port = static_cast<uint16_t>(number);
  return absl::OkStatus();
}

}  // namespace

FlagGroup TfsFlags(Settings* s) {
  TfsSettings* const t = &s->tfs;
  return {
      "TensorFlow Serving",
      {{"tfs-http-port", "<integer>", "",
        "Serve the REST API of TensorFlow Serving on this port, with the address, TLS and limits "
        "of HTTP; 0 picks a free one. Without this option it is not served.",
        [t](absl::string_view value) { return OpenTfsPort(value, &t->allow_http, &t->http_port); }},
       {"tfs-grpc-port", "<integer>", "",
        "Serve the gRPC API of TensorFlow Serving on this port, with the address, TLS and limits "
        "of gRPC; 0 picks a free one. Without this option it is not served.",
        [t](absl::string_view value) {
          return OpenTfsPort(value, &t->allow_grpc, &t->grpc_port);
        }}}};
}

}  // namespace nereid
