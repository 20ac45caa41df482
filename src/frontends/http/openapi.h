// The OpenAPI 3.1 document of the REST API, made from the table of routes. Pure functions
// but for the keys that they look at; thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_OPENAPI_H_
#define NEREID_FRONTENDS_HTTP_OPENAPI_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <string>
#include <vector>

#include "frontends/access/access_control.h"
#include "frontends/http/routes.h"

namespace nereid {

// The paths that a pattern of Router stands for: without its optional part, and with it.
std::vector<std::string> PathsOf(absl::string_view pattern);

// The document as JSON. `version` is that of the server; `access` says what its groups need.
std::string OpenApiDocument(absl::Span<const HttpRoute> routes, absl::string_view version,
                            const AccessControl& access);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OPENAPI_H_
