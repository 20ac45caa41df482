// SPDX-License-Identifier: Apache-2.0
// What the tests of the console share: a request without a connection. Pure functions.
#ifndef NEREID_FRONTENDS_HTTP_CONSOLE_TESTING_MADE_REQUEST_H_
#define NEREID_FRONTENDS_HTTP_CONSOLE_TESTING_MADE_REQUEST_H_

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/http/http_message.h"

namespace nereid {

// The token that these tests give the console.
inline constexpr char kToken[] = "0123456789abcdef";

using HeaderList = std::vector<std::pair<std::string, std::string>>;

inline std::unique_ptr<HttpRequest> MakeRequest(HttpMethod method, const std::string& path,
                                                const HeaderList& headers) {
  std::string head = path;
  std::vector<HttpRequest::HeaderRange> ranges;
  const auto append = [&](const std::string& text) {
    const HttpRequest::Range range = {static_cast<uint32_t>(head.size()),
                                      static_cast<uint32_t>(text.size())};
    absl::StrAppend(&head, text);
    return range;
  };
  for (const auto& [name, value] : headers) {
    const HttpRequest::Range of_name = append(name);
    ranges.push_back({of_name, append(value)});
  }
  return std::make_unique<HttpRequest>(
      head, method, HttpRequest::Range{0, static_cast<uint32_t>(path.size())}, ranges);
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CONSOLE_TESTING_MADE_REQUEST_H_
