// SPDX-License-Identifier: Apache-2.0
// A GET by HTTP/1 on a connection of its own. Blocks, without a time limit. Stateless.
#ifndef NEREID_APPS_NEREID_PROBE_HTTP_GET_H_
#define NEREID_APPS_NEREID_PROBE_HTTP_GET_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "probe/probe_connection.h"
#include "probe/probe_request.h"

namespace nereid {

struct HttpGetRequest {
  std::string path;
  std::vector<std::pair<std::string, std::string>> headers;
  // 1.0: the answer comes in one piece, up to the end of the connection. 1.1: its body may be in
  // chunks, which are not undone.
  const char* version = "HTTP/1.1";
  size_t most_bytes = 0;   // what comes after so many bytes is not read
  bool skip_good = false;  // the body of an answer with status 200 does not matter
};

struct HttpGetAnswer {
  int status = 0;
  std::string body;
};

// UNKNOWN if the server answers nothing, or no HTTP; RESOURCE_EXHAUSTED for an answer that is too
// large, unless it is an error.
absl::StatusOr<HttpGetAnswer> HttpGet(const ProbeTarget& target, const HttpGetRequest& request,
                                      ProbeConnection* connection);

// A name in a path, where all but letters, digits and -._~ is written as %XX.
std::string PathSegmentOf(absl::string_view name);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PROBE_HTTP_GET_H_
