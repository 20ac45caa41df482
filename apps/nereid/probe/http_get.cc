// SPDX-License-Identifier: Apache-2.0
#include "probe/http_get.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr char kHeadEnd[] = "\r\n\r\n";
constexpr int kOk = 200;

std::string Head(const ProbeTarget& target, const HttpGetRequest& request) {
  std::string head =
      absl::StrCat("GET ", request.path, " ", request.version, "\r\nhost: ", target.Authority(),
                   "\r\nconnection: close\r\nuser-agent: nereid-probe\r\n");
  for (const auto& [name, value] : request.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  return head + "\r\n";
}

// The status of an answer that begins with `text`; 0 if it is no HTTP.
int StatusOf(absl::string_view text) {
  int status = 0;
  if (!absl::ConsumePrefix(&text, "HTTP/1.") || text.size() < 6 || text[1] != ' ') return 0;
  if (text[5] != ' ' && text[5] != '\r') return 0;
  return absl::SimpleAtoi(text.substr(2, 3), &status) ? status : 0;
}

}  // namespace

std::string PathSegmentOf(absl::string_view name) {
  std::string segment;
  for (const char c : name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._~", c)) {
      segment.push_back(c);
    } else {
      absl::StrAppend(&segment, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return segment;
}

absl::StatusOr<HttpGetAnswer> HttpGet(const ProbeTarget& target, const HttpGetRequest& request,
                                      ProbeConnection* connection) {
  RETURN_IF_ERROR(connection->Write(Head(target, request)));
  std::string answer;
  bool complete = false;
  while (answer.size() < request.most_bytes) {
    const absl::StatusOr<std::string> more = connection->Read();
    // Some servers end a connection of TLS without a word; what they have sent counts.
    if (!more.ok() && answer.empty()) return more.status();
    complete = !more.ok() || more->empty();
    if (complete) break;
    answer += *more;
    if (request.skip_good && StatusOf(answer) == kOk) return HttpGetAnswer{kOk, ""};
  }
  const int status = StatusOf(answer);
  if (status == 0) {
    return absl::UnknownError(answer.empty()
                                  ? "the connection has ended without an answer (a port with TLS "
                                    "wants https or grpcs in the URL)"
                                  : "it does not speak HTTP/1.1");
  }
  if (!complete && status == kOk) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its answer has more than ", request.most_bytes, " bytes"));
  }
  const size_t end = answer.find(kHeadEnd);
  return HttpGetAnswer{status,
                       end == std::string::npos ? "" : answer.substr(end + sizeof(kHeadEnd) - 1)};
}

}  // namespace nereid
