// SPDX-License-Identifier: Apache-2.0
// Maps the errors of the core to HTTP. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_STATUS_MAP_H_
#define NEREID_FRONTENDS_HTTP_STATUS_MAP_H_

#include <absl/status/status.h>

#include "frontends/http/http_message.h"

namespace nereid {

int HttpStatusOf(absl::StatusCode code);

// Tells the client when to try again, if `error` says so (base/retry_after.h).
void AddRetryAfter(const absl::Status& error, HttpResponse* response);

// {"error":"<message>"} with the mapped status. REQUIRES: !error.ok()
HttpResponse StatusResponse(const absl::Status& error);

// 200 with `json` as body.
HttpResponse JsonResponse(std::string json);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_STATUS_MAP_H_
