#include "frontends/http/cors.h"

#include <optional>
#include <utility>

namespace nereid {
namespace {

constexpr char kAny[] = "*";
// Headers of answers that scripts need beside those that they may always read.
constexpr char kExposed[] = "Inference-Header-Content-Length, Content-Encoding";
// Seconds for which a browser need not ask again.
constexpr char kMaxAge[] = "600";

absl::string_view OriginOf(const HttpRequest& request) {
  return request.FindHeader("Origin").value_or("");
}

}  // namespace

bool CorsPolicy::Allows(absl::string_view origin) const {
  return !origin.empty() && (origins_.count(kAny) > 0 || origins_.count(std::string(origin)) > 0);
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
