#include "frontends/codec/repository_request.h"

#include <absl/strings/str_cat.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include "frontends/codec/json_access.h"

namespace nereid {

absl::StatusOr<bool> ReadIndexRequest(absl::string_view body) {
  if (body.empty()) return false;
  rapidjson::Document root;
  // Iterative, so that deep nesting cannot exhaust the stack.
  root.Parse<rapidjson::kParseIterativeFlag>(body.data(), body.size());
  if (root.HasParseError()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "failed to parse the request JSON buffer: ",
        rapidjson::GetParseError_En(root.GetParseError()), " at ", root.GetErrorOffset()));
  }
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
