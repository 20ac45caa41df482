// SPDX-License-Identifier: Apache-2.0
// The answers of health routes, as the Open Inference Protocol has them or as Triton does. A
// pure function, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_HEALTH_RESPONSE_H_
#define NEREID_FRONTENDS_HTTP_HEALTH_RESPONSE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include "frontends/http/http_message.h"

namespace nereid {

enum class HealthBody {
  kJson,   // as the Open Inference Protocol: clients of KServe read it
  kEmpty,  // as Triton: scripts compare what `curl -s -w %{http_code}` prints with 200
};

struct HealthTexts {
  const char* key;          // "live" or "ready"
  const char* not_healthy;  // the error
};

// 200 {"ready":true}; 503 {"ready":false,"error":"..."}; an error of asking has its own status,
// and says {"error":"..."}. With `model` the first two begin with {"name":"M",...}. Empty bodies
// are empty in the first two cases.
HttpResponse HealthResponse(const absl::StatusOr<bool>& healthy, const HealthTexts& texts,
                            HealthBody body, absl::string_view model = {});

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HEALTH_RESPONSE_H_
