// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/health_response.h"

#include <string>

#include "base/json_writer.h"
#include "frontends/http/status_map.h"

namespace nereid {

namespace {

std::string HealthJson(bool healthy, const HealthTexts& texts, absl::string_view model) {
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  if (!model.empty()) {
    writer.Add("name", model);
  }
  writer.Add(texts.key, healthy);
  if (!healthy) {
    writer.Add("error", texts.not_healthy);
  }
  writer.EndObject();
  return json;
}

HttpResponse EmptyResponse() {
  HttpResponse response;
  response.content_type = "text/plain";
  return response;
}

}  // namespace

HttpResponse HealthResponse(const absl::StatusOr<bool>& healthy, const HealthTexts& texts,
                            HealthBody body, absl::string_view model) {
  if (!healthy.ok()) return StatusResponse(healthy.status());
  HttpResponse response = body == HealthBody::kEmpty
                              ? EmptyResponse()
                              : JsonResponse(HealthJson(*healthy, texts, model));
  if (!*healthy) response.status = 503;
  return response;
}

}  // namespace nereid
