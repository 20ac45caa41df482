// SPDX-License-Identifier: Apache-2.0
// Where an HTTP request ends. Shared by the programs that do as little as a server can.
#ifndef NEREID_BENCH_LIMITS_HTTP_REQUEST_SIZE_H_
#define NEREID_BENCH_LIMITS_HTTP_REQUEST_SIZE_H_

#include <absl/strings/numbers.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <limits>
#include <optional>

namespace nereid_bench {

// Bytes of a request and of its body.
struct HttpRequestSize {
  size_t whole = 0;  // 0: the end of the head has not come yet
  size_t body = 0;
};

// Looks at the bytes received so far, which begin with the request. Looks for Content-Length only,
// spelled like this. None if the head has no valid one.
inline std::optional<HttpRequestSize> FindHttpRequestSize(absl::string_view received) {
  constexpr absl::string_view kName = "\r\nContent-Length:";
  const size_t end = received.find("\r\n\r\n");
  if (end == absl::string_view::npos) return HttpRequestSize{};
  const size_t at = received.find(kName);
  if (at == absl::string_view::npos || at > end) return std::nullopt;
  const size_t value = at + kName.size();
  const size_t head = end + 4;
  size_t body = 0;
  if (!absl::SimpleAtoi(received.substr(value, received.find("\r\n", value) - value), &body) ||
      body > std::numeric_limits<size_t>::max() - head) {
    return std::nullopt;
  }
  return HttpRequestSize{head + body, body};
}

}  // namespace nereid_bench

#endif  // NEREID_BENCH_LIMITS_HTTP_REQUEST_SIZE_H_
