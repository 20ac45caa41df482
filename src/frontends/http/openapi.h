// SPDX-License-Identifier: Apache-2.0
// The OpenAPI 3.1 document of the REST API, made from the table of routes. The functions are pure.
#ifndef NEREID_FRONTENDS_HTTP_OPENAPI_H_
#define NEREID_FRONTENDS_HTTP_OPENAPI_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "frontends/access/access_control.h"
#include "frontends/http/openapi_security.h"
#include "frontends/http/routes.h"

namespace nereid {

// The paths that a pattern of Router stands for: without its optional part, and with it.
std::vector<std::string> PathsOf(absl::string_view pattern);

// The document as JSON. `version` is that of the server; `security` says what its groups need.
std::string OpenApiDocument(absl::Span<const HttpRoute> routes, absl::string_view version,
                            const OpenApiSecurity& security);

// The document of one server, which is made once, and again when its groups need something else,
// because the file of keys has changed. All answers share its text. Thread-safe.
class OpenApiText {
 public:
  // `access` outlives this.
  OpenApiText(std::vector<HttpRoute> routes, std::string version, const AccessControl* access)
      : routes_(std::move(routes)), version_(std::move(version)), access_(access) {}

  // Reads the file of keys at times.
  std::shared_ptr<const std::string> Get() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const std::vector<HttpRoute> routes_;
  const std::string version_;
  const AccessControl* const access_;
  Mutex mu_;
  std::optional<OpenApiSecurity> security_ ABSL_GUARDED_BY(mu_);  // that `text_` tells
  std::shared_ptr<const std::string> text_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OPENAPI_H_
