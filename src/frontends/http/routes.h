// SPDX-License-Identifier: Apache-2.0
// The tables of the routes of the inference port, and of TensorFlow Serving's API. Each file of
// endpoints contains its own rows and their handlers; a new route is a row there and its handler.
// Immutable, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_ROUTES_H_
#define NEREID_FRONTENDS_HTTP_ROUTES_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "frontends/access/api_group.h"
#include "frontends/http/http_message.h"
#include "frontends/http/route_doc.h"
#include "frontends/http/router.h"

namespace nereid {

struct HttpEndpoints;

// A request on its way to the handler of its route.
struct HttpCall {
  PathNames names;  // point into `request`
  std::unique_ptr<HttpRequest> request;
};

// Must answer in every case, at once or later. Runs on an I/O thread; must not block.
using HttpRouteHandler = void (*)(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder);

enum class RouteMethods : uint8_t { kGet, kPost, kGetAndPost };  // GET always includes HEAD

// What a route takes as the body of a POST.
enum class RouteBody : uint8_t {
  kSmall,  // what administration needs: --max-admin-body-bytes
  kInput,  // input as JSON: --http-max-input-size
  kAny,    // as much as the port takes
};

struct HttpRoute {
  absl::string_view pattern;  // in the syntax of Router
  RouteMethods methods;
  ApiGroup group;
  HttpRouteHandler handle;
  RouteDoc doc;
  RouteBody body = RouteBody::kSmall;
  // The handler needs the model of the path: a request may wait until it is loaded.
  bool awaits_model = false;
};

// Value of an Allow header: "GET, HEAD", "POST" or "GET, HEAD, POST".
const char* AllowedMethods(RouteMethods methods);
bool IsMethodAllowed(RouteMethods methods, HttpMethod method);

// The rows of each file.
absl::Span<const HttpRoute> GenerateRoutes();      // generate_endpoint.cc
absl::Span<const HttpRoute> InferRoutes();         // infer_endpoint.cc
absl::Span<const HttpRoute> LoggingRoutes();       // logging_endpoint.cc
absl::Span<const HttpRoute> ModelRoutes();         // model_endpoints.cc
absl::Span<const HttpRoute> NereidRoutes();        // nereid_endpoints.cc
absl::Span<const HttpRoute> OpenAiRoutes();        // openai_endpoint.cc
absl::Span<const HttpRoute> RepositoryRoutes();    // repository_endpoints.cc
absl::Span<const HttpRoute> ServerRoutes();        // server_endpoints.cc
absl::Span<const HttpRoute> SharedMemoryRoutes();  // shared_memory_endpoints.cc
absl::Span<const HttpRoute> TraceRoutes();         // trace_endpoints.cc
absl::Span<const HttpRoute> WelcomeRoutes();       // welcome_endpoints.cc

// Those of TensorFlow Serving's API, which have a port of their own. tfs/tfs_endpoint.cc
absl::Span<const HttpRoute> TfsRoutes();

// All rows of the inference port.
std::vector<HttpRoute> AllRoutes();

// What an HttpFrontend serves.
struct HttpApi {
  std::vector<HttpRoute> routes;
  // The form that answers to requests for `path` get, refusals of what has no route too. Null, as
  // its result may be: that of the v2 protocol.
  AnswerForm (*form_of)(absl::string_view path) = nullptr;
};
HttpApi InferenceApi();
HttpApi TfsApi();
// A router for their patterns, in the same order.
Router MakeRouter(absl::Span<const HttpRoute> routes);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_ROUTES_H_
