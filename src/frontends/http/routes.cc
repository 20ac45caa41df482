// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/routes.h"

#include "frontends/http/openai_endpoint.h"

namespace nereid {

const char* AllowedMethods(RouteMethods methods) {
  switch (methods) {
    case RouteMethods::kGet:
      return "GET, HEAD";
    case RouteMethods::kPost:
      return "POST";
    case RouteMethods::kGetAndPost:
      return "GET, HEAD, POST";
  }
  return "";
}

bool IsMethodAllowed(RouteMethods methods, HttpMethod method) {
  switch (method) {
    case HttpMethod::kGet:
    case HttpMethod::kHead:
      return methods != RouteMethods::kPost;
    case HttpMethod::kPost:
      return methods != RouteMethods::kGet;
    case HttpMethod::kDelete:   // on the port of a cloud platform only
    case HttpMethod::kOptions:  // answered for all routes alike
    case HttpMethod::kOther:
      return false;
  }
  return false;
}

std::vector<HttpRoute> AllRoutes() {
  std::vector<HttpRoute> all;
  for (const absl::Span<const HttpRoute> rows :
       {InferRoutes(), GenerateRoutes(), ServerRoutes(), ModelRoutes(), RepositoryRoutes(),
        SharedMemoryRoutes(), LoggingRoutes(), TraceRoutes(), WelcomeRoutes(), NereidRoutes(),
        OpenAiRoutes()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

HttpApi InferenceApi() { return {AllRoutes(), &OpenAiFormOf}; }

HttpApi TfsApi() {
  const absl::Span<const HttpRoute> rows = TfsRoutes();
  return {{rows.begin(), rows.end()}, nullptr};
}

Router MakeRouter(absl::Span<const HttpRoute> routes) {
  std::vector<absl::string_view> patterns;
  for (const HttpRoute& route : routes) patterns.push_back(route.pattern);
  return Router(patterns);
}

}  // namespace nereid
