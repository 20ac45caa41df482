// SPDX-License-Identifier: Apache-2.0
// What the heads of answers have in common, whatever the version of HTTP. Pure functions,
// thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_HEAD_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_HEAD_H_

#include <absl/strings/string_view.h>

#include <cstdint>

#include "frontends/http/http_message.h"

namespace nereid::http {

// Whether a header may be sent. A check is needed although the server makes all headers: some
// values repeat text from a client or a model.
inline bool IsSafeHeader(absl::string_view name, absl::string_view value) {
  constexpr absl::string_view kUnsafe("\r\n\0", 3);
  return name.find_first_of(kUnsafe) == absl::string_view::npos &&
         value.find_first_of(kUnsafe) == absl::string_view::npos;
}

// Bytes of a body that is not produced piece by piece.
inline uint64_t BodySize(const HttpResponse& response) {
  uint64_t size = response.text.size();
  for (const HttpChunk& chunk : response.chunks) size += chunk.size;
  return size;
}

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_HEAD_H_
