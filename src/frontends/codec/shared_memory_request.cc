// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/shared_memory_request.h"

#include <absl/strings/str_cat.h>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

absl::Status Missing(const char* field) {
  return absl::InvalidArgumentError(
      absl::StrCat("Shared memory register request has no '", field, "' field"));
}

// The number `field` of the object; `out` stays as it is if there is none.
absl::StatusOr<bool> ReadNumber(const JsonValue& root, const char* field, uint64_t* out) {
  const JsonValue* const member = FindMember(root, field);
  if (member == nullptr) return false;
  const absl::StatusOr<uint64_t> value = AsUint(*member);
  if (!value.ok()) return UnableToParse(field, value.status());
  *out = *value;
  return true;
}

}  // namespace

absl::StatusOr<SharedMemoryRegion> ReadRegisterRequest(const std::string& name,
                                                       absl::string_view body,
                                                       const ParseBudget& budget) {
  SharedMemoryRegion region;
  region.name = name;
  JsonTree root;
  if (body.empty()) return Missing("key");
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, budget, &root));
  RETURN_IF_ERROR(CheckMembers(root, "member of a shared memory register request",
                               {"key", "offset", "byte_size"}));
  const JsonValue* const key = FindMember(root, "key");
  if (key == nullptr) return Missing("key");
  const absl::StatusOr<absl::string_view> text = AsString(*key);
  if (!text.ok()) return UnableToParse("key", text.status());
  region.key = std::string(*text);
  RETURN_IF_ERROR(ReadNumber(root, "offset", &region.offset).status());
  ASSIGN_OR_RETURN(const bool has_size, ReadNumber(root, "byte_size", &region.byte_size));
  if (!has_size) return Missing("byte_size");
  return region;
}

absl::Status CheckUnregisterRequest(absl::string_view body, const ParseBudget& budget) {
  if (body.empty()) return absl::OkStatus();
  JsonTree root;
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, budget, &root));
  return CheckMembers(root, "member of a shared memory unregister request", {});
}

std::string ToJson(const std::vector<SharedMemoryRegion>& regions) {
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  for (const SharedMemoryRegion& region : regions) {
    json.BeginObject();
    json.Add("name", region.name);
    json.Add("key", region.key);
    json.Add("offset", region.offset);
    json.Add("byte_size", region.byte_size);
    json.EndObject();
  }
  json.EndArray();
  return text;
}

}  // namespace nereid
