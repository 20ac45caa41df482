// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/status_map.h"

#include <utility>

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

HttpResponse StatusResponse(const absl::Status& error) {
  return MakeErrorResponse(HttpStatusOf(error.code()), error.message());
}

HttpResponse JsonResponse(std::string json) {
  HttpResponse response;
  response.content_type = "application/json";
  response.text = std::move(json);
  return response;
}

}  // namespace nereid
