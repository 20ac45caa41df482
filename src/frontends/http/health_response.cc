#include "frontends/http/health_response.h"

#include <string>
#include <utility>

#include "base/json_writer.h"
#include "frontends/http/status_map.h"

namespace nereid {

HttpResponse HealthResponse(const absl::StatusOr<bool>& healthy, const HealthTexts& texts,
                            absl::string_view model) {
  if (!healthy.ok()) return StatusResponse(healthy.status());
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  if (!model.empty()) {
    writer.Key("name");
    writer.String(model);
  }
  writer.Key(texts.key);
  writer.Bool(*healthy);
  if (!*healthy) {
    writer.Key("error");
    writer.String(texts.not_healthy);
  }
  writer.EndObject();
  HttpResponse response = JsonResponse(std::move(json));
  if (!*healthy) response.status = 503;
  return response;
}

}  // namespace nereid
