#include "frontends/http/console/console_guard.h"

#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <arpa/inet.h>

#include <utility>

#include "frontends/access/bearer.h"

namespace nereid {
namespace {

bool IsAddress(const std::string& text, int family) {
  in6_addr address;  // large enough for both families
  return ::inet_pton(family, text.c_str(), &address) == 1;
}

// The name or the address in "name[:port]" or "[address][:port]"; empty for another form.
absl::string_view NameIn(absl::string_view host) {
  size_t end = host.find(':');
  absl::string_view name = host.substr(0, end);
  if (absl::StartsWith(host, "[")) {
    end = host.find(']');
    if (end == absl::string_view::npos) return {};
    name = host.substr(0, ++end);
  }
  absl::string_view port = end < host.size() ? host.substr(end) : "";
  if (absl::ConsumePrefix(&port, ":") && port.empty()) return {};
  return absl::c_all_of(port, absl::ascii_isdigit) ? name : absl::string_view();
}

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
  absl::string_view name = NameIn(host);
  if (absl::EqualsIgnoreCase(name, "localhost")) return true;
  if (absl::ConsumePrefix(&name, "[")) {
    return absl::ConsumeSuffix(&name, "]") && IsAddress(std::string(name), AF_INET6);
  }
  if (IsAddress(std::string(name), AF_INET)) return true;
  return !name.empty() && absl::EqualsIgnoreCase(name, address_);
}

std::optional<HttpResponse> ConsoleGuard::RefuseSource(const HttpRequest& request) const {
  const absl::string_view host = request.FindHeader("Host").value_or("");
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
