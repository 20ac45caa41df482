// SPDX-License-Identifier: Apache-2.0
// Gives a model those headers of its request that it is to get. Stateless.
#ifndef NEREID_FRONTENDS_HTTP_FORWARDED_HEADERS_H_
#define NEREID_FRONTENDS_HTTP_FORWARDED_HEADERS_H_

#include <absl/status/status.h>
#include <absl/types/span.h>

#include "base/status_macros.h"
#include "frontends/header_forwarding/header_forwarding.h"
#include "frontends/http/http_message.h"

namespace nereid {

// The names of HTTP/2's own fields begin with a colon; a model gets none of them.
inline absl::Status ForwardHeaders(const HeaderForwarding& forwarding,
                                   absl::Span<const HttpHeader> headers, InferRequest* request) {
  if (!forwarding.active()) return absl::OkStatus();
  for (const HttpHeader& header : headers) {
    if (header.name.empty() || header.name.front() == ':') continue;
    RETURN_IF_ERROR(forwarding.Forward(header.name, header.value, request));
  }
  return absl::OkStatus();
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_FORWARDED_HEADERS_H_
