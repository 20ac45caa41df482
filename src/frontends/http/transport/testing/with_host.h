// SPDX-License-Identifier: Apache-2.0
// WithHost: what tests send, with the Host that HTTP/1.1 asks for and that says nothing to most of
// them. A pure function.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_WITH_HOST_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_WITH_HOST_H_

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <string>

namespace nereid {

// `bytes` with a Host behind each request line of HTTP/1.1 whose head has none.
inline std::string WithHost(absl::string_view bytes) {
  constexpr absl::string_view kLineEnd = " HTTP/1.1\r\n";
  std::string sent;
  for (size_t line = bytes.find(kLineEnd); line != absl::string_view::npos;
       line = bytes.find(kLineEnd)) {
    sent.append(bytes.data(), line + kLineEnd.size());
    bytes.remove_prefix(line + kLineEnd.size());
    const std::string head = absl::AsciiStrToLower(bytes.substr(0, bytes.find("\r\n\r\n")));
    const bool has_host = absl::StartsWith(head, "host:") || absl::StrContains(head, "\nhost:");
    if (!has_host) sent += "Host: test\r\n";
  }
  return sent.append(bytes.data(), bytes.size());
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_WITH_HOST_H_
