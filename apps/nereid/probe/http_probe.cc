// SPDX-License-Identifier: Apache-2.0
// A probe by HTTP/1.1.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include "base/status_macros.h"
#include "probe/http_get.h"
#include "probe/probe_answer.h"

namespace nereid {
namespace {

constexpr size_t kMostShown = 300;
constexpr int kOk = 200;

std::string Path(const ProbeRequest& request) {
  if (request.live) return "/v2/health/live";
  if (request.model.empty()) return "/v2/health/ready";
  std::string path = absl::StrCat("/v2/models/", PathSegmentOf(request.model));
  if (!request.version.empty()) absl::StrAppend(&path, "/versions/", request.version);
  return path + "/ready";
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
  HttpGetRequest get;
  get.path = Path(request);
  get.headers = request.headers;
  get.most_bytes = kMostProbeBytes;
  get.skip_good = true;
  ASSIGN_OR_RETURN(const HttpGetAnswer answer, HttpGet(target, get, connection));
  if (answer.status == kOk) return ProbeAnswer{true, ""};
  const std::string body = OnOneLine(answer.body);
  return ProbeAnswer{
      false, absl::StrCat("it answers HTTP ", answer.status, body.empty() ? "" : ": ", body)};
}

}  // namespace nereid
