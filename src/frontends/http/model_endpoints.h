// Endpoints about models: readiness, metadata, configuration, statistics. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_MODEL_ENDPOINTS_H_
#define NEREID_FRONTENDS_HTTP_MODEL_ENDPOINTS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "frontends/http/http_message.h"
#include "frontends/http/router.h"
#include "server/server.h"

namespace nereid {

// The version of a route; kLatestVersion when it names none. INVALID_ARGUMENT when the digits
// are no version.
absl::StatusOr<int64_t> RouteVersion(const Route& route);

// 200 with an empty body, 503 when not ready, otherwise the error of the look-up.
HttpResponse ModelReadyResponse(const Server& server, const Route& route);
HttpResponse ModelMetadataResponse(const Server& server, const Route& route);
HttpResponse ModelConfigResponse(const Server& server, const Route& route);
// Of the route's model, or of all ready models when it names none.
HttpResponse ModelStatisticsResponse(const Server& server, const Route& route);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_MODEL_ENDPOINTS_H_
