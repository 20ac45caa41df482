// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/console/console_guard.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <utility>

#include "frontends/access/bearer.h"
#include "frontends/http/authority.h"

namespace nereid {
namespace {

// What a browser sends as the origin of a page from `host`. A proxy in front may speak TLS.
bool IsOriginOf(absl::string_view host, absl::string_view origin) {
  if (!absl::ConsumePrefix(&origin, "http://") && !absl::ConsumePrefix(&origin, "https://")) {
    return false;
  }
  return absl::EqualsIgnoreCase(origin, host);
}

}  // namespace

ConsoleGuard::ConsoleGuard(std::string address, absl::string_view token, AccessControl access)
    : address_(std::move(address)), token_(token), access_(std::move(access)) {}

bool ConsoleGuard::IsOwnHost(absl::string_view host) const {
  const std::optional<Authority> own = SplitAuthority(host);
  if (!own.has_value()) return false;
  return IsLocalhostOrAddress(own->name) || absl::EqualsIgnoreCase(own->name, address_);
}

std::optional<HttpResponse> ConsoleGuard::RefuseSource(const HttpRequest& request) const {
  const absl::string_view host = request.authority();
  if (!IsOwnHost(host)) {
    return MakeErrorResponse(
        403, absl::StrCat("the console is not open by the host '", host,
                          "': use localhost, an address, or the name in --console-address"));
  }
  const std::optional<absl::string_view> origin = request.FindHeader("Origin");
  if (!origin.has_value() || IsOriginOf(host, *origin)) return std::nullopt;
  return MakeErrorResponse(
      403, absl::StrCat("the console is not open to pages of the origin '", *origin, "'"));
}

ConsoleGuard::Visitor ConsoleGuard::Recognise(const HttpRequest& request) const {
  const absl::string_view token = BearerKey(request.FindHeader("Authorization").value_or(""));
  if (token_ == Secret(token)) return Visitor::kOwner;
  // A group without a header of its own is open to everybody on the HTTP port, but not here.
  if (access_.RestrictingHeader(ApiGroup::kNereid) == nullptr) return Visitor::kStranger;
  const bool refused =
      access_
          .Check(ApiGroup::kNereid,
                 [&](absl::string_view name) { return request.FindHeader(name).value_or(""); })
          .has_value();
  return refused ? Visitor::kStranger : Visitor::kKeyHolder;
}

HttpResponse ConsoleGuard::StrangerResponse() const {
  const std::string* const header = access_.RestrictingHeader(ApiGroup::kNereid);
  HttpResponse response = MakeErrorResponse(
      401, absl::StrCat(
               "the console's API needs the token of the link that the server printed when it "
               "started: send it as header 'Authorization: Bearer <token>'",
               header == nullptr
                   ? ""
                   : absl::StrCat(", or the key of the group 'nereid' as header '", *header, "'")));
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace nereid
