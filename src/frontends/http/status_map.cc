// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/status_map.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "base/retry_after.h"

namespace nereid {

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInternal:
      return 500;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kUnimplemented:
      return 501;
    default:
      return 400;  // what the protocol says for all others, also CANCELLED and UNKNOWN
  }
}

void AddRetryAfter(const absl::Status& error, HttpResponse* response) {
  if (const std::optional<uint32_t> seconds = RetryAfterOf(error)) {
    response->headers.emplace_back("Retry-After", absl::StrCat(*seconds));
  }
}

HttpResponse StatusResponse(const absl::Status& error) {
  HttpResponse response = MakeErrorResponse(HttpStatusOf(error.code()), error.message());
  AddRetryAfter(error, &response);
  return response;
}

HttpResponse JsonResponse(std::string json) {
  HttpResponse response;
  response.content_type = "application/json";
  response.text = std::move(json);
  return response;
}

}  // namespace nereid
