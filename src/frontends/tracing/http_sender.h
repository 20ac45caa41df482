// SPDX-License-Identifier: Apache-2.0
// HttpSender: posts messages to a server, one at a time. Used by one thread.
#ifndef NEREID_FRONTENDS_TRACING_HTTP_SENDER_H_
#define NEREID_FRONTENDS_TRACING_HTTP_SENDER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"

namespace nereid {

class HttpSender {
 public:
  virtual ~HttpSender() = default;
  // Blocks until the server has answered, `timeout` at the longest. UNAVAILABLE if the message may
  // be sent again, INTERNAL if that would not help.
  virtual absl::Status Post(absl::string_view body, Duration timeout) = 0;
};

// Posts protobuf messages to `url`, of http unless it says so, by libcurl. `headers`: further ones,
// "Name: value". INVALID_ARGUMENT for a URL that is not of http or https, NOT_FOUND if there is no
// libcurl.
absl::StatusOr<std::unique_ptr<HttpSender>> MakeCurlSender(const std::string& url,
                                                           const std::vector<std::string>& headers);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_HTTP_SENDER_H_
