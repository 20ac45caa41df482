#include "frontends/codec/repository_request.h"

#include <rapidjson/document.h>

#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/request_limits.h"

namespace nereid {

absl::StatusOr<bool> ReadIndexRequest(absl::string_view body) {
  if (body.empty()) return false;
  rapidjson::Document root;
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, &root));
  if (!root.IsObject()) {
    return absl::InvalidArgumentError("attempt to access JSON non-object as object");
  }
  const JsonValue* ready = FindMember(root, "ready");
  if (ready == nullptr) return false;
  if (!ready->IsBool()) {
    return absl::InvalidArgumentError("Invalid value for 'ready': expected a boolean");
  }
  return ready->GetBool();
}

}  // namespace nereid
