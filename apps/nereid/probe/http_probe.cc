// A probe by HTTP/1.1.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include "base/status_macros.h"
#include "probe/probe_answer.h"

namespace nereid {
namespace {

constexpr size_t kMostShown = 300;
constexpr char kHeadEnd[] = "\r\n\r\n";
constexpr int kOk = 200;

// A name in a path, where all but letters, digits and -._~ is written as %XX.
std::string PathSegment(absl::string_view name) {
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

std::string Path(const ProbeRequest& request) {
  if (request.live) return "/v2/health/live";
  if (request.model.empty()) return "/v2/health/ready";
  std::string path = absl::StrCat("/v2/models/", PathSegment(request.model));
  if (!request.version.empty()) absl::StrAppend(&path, "/versions/", request.version);
  return path + "/ready";
}

std::string Head(const ProbeTarget& target, const ProbeRequest& request) {
  std::string head = absl::StrCat("GET ", Path(request), " HTTP/1.1\r\nhost: ", target.Authority(),
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

std::string OnOneLine(const std::string& text) {
  std::string line(absl::StripAsciiWhitespace(absl::string_view(text).substr(0, kMostShown)));
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return line;
}

absl::StatusOr<ProbeAnswer> ProbeByHttp(const ProbeTarget& target, const ProbeRequest& request,
                                        ProbeConnection* connection) {
  RETURN_IF_ERROR(connection->Write(Head(target, request)));
  std::string answer;
  while (answer.size() < kMostProbeBytes) {
    const absl::StatusOr<std::string> more = connection->Read();
    // Some servers end a connection of TLS without a word; what they have sent counts.
    if (!more.ok() && answer.empty()) return more.status();
    if (!more.ok() || more->empty()) break;
    answer += *more;
    // The body of a good answer does not matter.
    if (StatusOf(answer) == kOk) return ProbeAnswer{true, ""};
  }
  const int status = StatusOf(answer);
  if (status == 0) {
    return absl::UnknownError(answer.empty() ? "the connection has ended without an answer"
                                             : "it does not speak HTTP/1.1");
  }
  const size_t end = answer.find(kHeadEnd);
  const std::string body =
      end == std::string::npos ? "" : OnOneLine(answer.substr(end + sizeof(kHeadEnd) - 1));
  return ProbeAnswer{false,
                     absl::StrCat("it answers HTTP ", status, body.empty() ? "" : ": ", body)};
}

}  // namespace nereid
