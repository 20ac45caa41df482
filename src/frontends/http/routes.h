// The table of the routes of the inference port. Each file of endpoints has the rows of its own,
// and their handlers; a new route is a row there and its handler. Immutable, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_ROUTES_H_
#define NEREID_FRONTENDS_HTTP_ROUTES_H_

#include <absl/types/span.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "frontends/http/http_message.h"
#include "frontends/http/router.h"

namespace nereid {

struct HttpEndpoints;

// A request on its way to the handler of its route.
struct HttpCall {
  PathNames names;  // point into `request`
  std::unique_ptr<HttpRequest> request;
};

// Answers on every path, at once or later. Runs on an I/O thread; must not block.
using HttpRouteHandler = void (*)(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder);

enum class RouteMethods : uint8_t { kGet, kPost, kGetAndPost };  // with GET always HEAD as well

struct HttpRoute {
  absl::string_view pattern;  // as Router takes it
  RouteMethods methods;
  // The group of APIs that the route belongs to where access is restricted group by group.
  absl::string_view group;
  HttpRouteHandler handle;
};

// Value of an Allow header: "GET, HEAD", "POST" or "GET, HEAD, POST".
const char* AllowedMethods(RouteMethods methods);
bool IsMethodAllowed(RouteMethods methods, HttpMethod method);

// The rows of one file each.
absl::Span<const HttpRoute> GenerateRoutes();     // generate_endpoint.cc
absl::Span<const HttpRoute> InferRoutes();        // infer_endpoint.cc
absl::Span<const HttpRoute> ModelRoutes();        // model_endpoints.cc
absl::Span<const HttpRoute> RepositoryRoutes();   // repository_endpoints.cc
absl::Span<const HttpRoute> ServerRoutes();       // server_endpoints.cc
absl::Span<const HttpRoute> UnsupportedRoutes();  // unsupported_endpoints.cc

// All of them.
std::vector<HttpRoute> AllRoutes();
// A router of their patterns, in the same order.
Router MakeRouter(absl::Span<const HttpRoute> routes);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_ROUTES_H_
