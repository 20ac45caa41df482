// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cloud/binary_mime.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/http/infer_endpoint.h"

namespace nereid {
namespace {

// The number of a content type `mime`, as text; nothing if the content type is another one.
absl::StatusOr<std::optional<absl::string_view>> JsonLength(const HttpRequest& request,
                                                            absl::string_view mime) {
  const absl::string_view type = request.FindHeader("Content-Type").value_or("");
  const size_t begin = type.find(mime);
  if (begin == absl::string_view::npos) return std::nullopt;
  if (begin != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("expect MIME type for binary data starts with '", mime, "', got: ", type));
  }
  const absl::string_view rest = type.substr(mime.size());
  const absl::string_view length = absl::StripAsciiWhitespace(rest.substr(0, rest.find(';')));
  if (length.empty() || !std::all_of(length.begin(), length.end(), absl::ascii_isdigit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to parse inference header size, got: ", rest));
  }
  return length;
}

// The head of a request while it is put together.
class Head {
 public:
  explicit Head(absl::string_view target) { target_ = Add(target); }

  void AddHeader(absl::string_view name, absl::string_view value) {
    const HttpRequest::Range place = Add(name);
    headers_.push_back({place, Add(value)});
  }
  std::unique_ptr<HttpRequest> Finish(HttpMethod method, absl::string_view authority) {
    const HttpRequest::Range place = Add(authority);
    return std::make_unique<HttpRequest>(text_, method, target_, headers_, place);
  }

 private:
  HttpRequest::Range Add(absl::string_view part) {
    const HttpRequest::Range range{static_cast<uint32_t>(text_.size()),
                                   static_cast<uint32_t>(part.size())};
    absl::StrAppend(&text_, part);
    return range;
  }

  std::string text_;
  HttpRequest::Range target_;
  std::vector<HttpRequest::HeaderRange> headers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpRequest>> SendOn(std::unique_ptr<HttpRequest> request,
                                                    const NewAddress& to, absl::string_view mime) {
  ASSIGN_OR_RETURN(const std::optional<absl::string_view> length, JsonLength(*request, mime));
  Head head(to.path);
  for (const HttpHeader& header : request->headers()) {
    if (absl::EqualsIgnoreCase(header.name, kHeaderLengthHeader)) continue;
    if (absl::EqualsIgnoreCase(header.name, "Accept-Encoding")) continue;
    head.AddHeader(header.name, header.value);
  }
  if (length.has_value()) head.AddHeader(kHeaderLengthHeader, *length);
  std::unique_ptr<HttpRequest> sent_on = head.Finish(to.method, request->authority());
  sent_on->set_secure(request->secure());
  sent_on->set_body(request->body());
  sent_on->set_received_ns(request->received_ns());
  return sent_on;
}

void UseMime(absl::string_view mime, HttpResponse* response) {
  const auto length =
      std::find_if(response->headers.begin(), response->headers.end(),
                   [](const auto& header) { return header.first == kHeaderLengthHeader; });
  if (length == response->headers.end()) return;
  *length = {"Content-Type", absl::StrCat(mime, length->second)};
  response->content_type = absl::string_view();
}

std::string PathOfModel(absl::string_view model, absl::string_view action) {
  std::string path = "/v2/models/";
  for (const char c : model) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._~", c)) {
      path += c;
    } else {
      absl::StrAppend(&path, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return absl::StrCat(path, "/", action);
}

}  // namespace nereid
