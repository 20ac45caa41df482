// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cors.h"

#include <absl/algorithm/container.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include "frontends/http/authority.h"

namespace nereid {
namespace {

constexpr char kAny[] = "*";
// Headers of answers that scripts need beside those that they may always read.
constexpr char kExposed[] = "Inference-Header-Content-Length, Content-Encoding";
// Seconds for which a browser need not ask again.
constexpr char kMaxAge[] = "600";
// Of an origin that is quoted; it may be of any length.
constexpr size_t kMostQuotedBytes = 200;

absl::string_view OriginOf(const HttpRequest& request) {
  return request.FindHeader("Origin").value_or("");
}

}  // namespace

bool CorsPolicy::Allows(absl::string_view origin) const {
  return !origin.empty() && (origins_.count(kAny) > 0 || origins_.count(std::string(origin)) > 0);
}

std::optional<HttpResponse> CorsPolicy::Refuse(const HttpRequest& request) const {
  if (!checks_) return std::nullopt;
  for (const HttpHeader& header : request.headers()) {
    if (!absl::EqualsIgnoreCase(header.name, "Origin")) continue;
    if (Allows(header.value) || IsOwn(header.value, request)) continue;
    const absl::string_view shown = header.value.substr(0, kMostQuotedBytes);
    return MakeErrorResponse(403, absl::StrCat("pages of the origin '", shown,
                                               "' may not use this server: --http-allow-origin=",
                                               shown, " would allow them"));
  }
  return std::nullopt;
}

bool CorsPolicy::IsOwn(absl::string_view origin, const HttpRequest& request) const {
  // Without TLS here, something in front of the server may speak it.
  absl::string_view default_port = "443";
  if (!absl::ConsumePrefix(&origin, "https://")) {
    if (request.secure() || !absl::ConsumePrefix(&origin, "http://")) return false;
    default_port = "80";
  }
  const auto page = SplitAuthority(origin);
  const auto asked = SplitAuthority(request.authority());
  if (!page.has_value() || !asked.has_value()) return false;
  const auto port = [&](const Authority& of) { return of.port.empty() ? default_port : of.port; };
  if (!absl::EqualsIgnoreCase(page->name, asked->name) || port(*page) != port(*asked)) return false;
  return IsLocalhostOrAddress(page->name) ||
         absl::c_any_of(own_names_, [&](const std::string& own) {
           return absl::EqualsIgnoreCase(page->name, own);
         });
}

void CorsPolicy::Mark(const HttpRequest& request, HttpResponder* responder) const {
  if (origins_.empty()) return;
  // Also where it is missing or not allowed: the answer depends on it, which caches must know.
  responder->AddHeader("Vary", "Origin");
  const absl::string_view origin = OriginOf(request);
  if (!Allows(origin)) return;
  responder->AddHeader("Access-Control-Allow-Origin", std::string(origin));
  responder->AddHeader("Access-Control-Expose-Headers", kExposed);
}

HttpResponse CorsPolicy::Options(const HttpRequest& request, const char* methods) const {
  HttpResponse response;
  response.headers.emplace_back("Allow", std::string(methods) + ", OPTIONS");
  if (!Allows(OriginOf(request)) ||
      !request.FindHeader("Access-Control-Request-Method").has_value()) {
    return response;
  }
  response.headers.emplace_back("Access-Control-Allow-Methods", methods);
  response.headers.emplace_back("Access-Control-Max-Age", kMaxAge);
  if (const auto asked = request.FindHeader("Access-Control-Request-Headers")) {
    response.headers.emplace_back("Access-Control-Allow-Headers", std::string(*asked));
  }
  return response;
}

}  // namespace nereid
