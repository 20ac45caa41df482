// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/shared_memory_request.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

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

namespace {

// The bytes of {"b64": "..."}.
absl::StatusOr<std::string> ReadHandle(const JsonValue& root) {
  static constexpr size_t kBytes = 64;
  const JsonValue* const given = FindMember(root, "raw_handle");
  if (given == nullptr) return Missing("raw_handle");
  RETURN_IF_ERROR(CheckMembers(*given, "member of 'raw_handle'", {"b64"}));
  const JsonValue* const encoded = FindMember(*given, "b64");
  if (encoded == nullptr) return Missing("b64");
  const absl::StatusOr<absl::string_view> text = AsString(*encoded);
  if (!text.ok()) return UnableToParse("b64", text.status());
  std::string handle;
  if (!absl::Base64Unescape(*text, &handle) || handle.size() != kBytes) {
    return absl::InvalidArgumentError(
        "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t");
  }
  return handle;
}

}  // namespace

absl::StatusOr<CudaRegisterRequest> ReadCudaRegisterRequest(const std::string& name,
                                                            absl::string_view body,
                                                            const ParseBudget& budget) {
  CudaRegisterRequest request;
  request.region.name = name;
  JsonTree root;
  if (body.empty()) return Missing("raw_handle");
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, budget, &root));
  RETURN_IF_ERROR(CheckMembers(root, "member of a shared memory register request",
                               {"raw_handle", "device_id", "byte_size"}));
  ASSIGN_OR_RETURN(request.handle, ReadHandle(root));
  uint64_t device = 0;
  ASSIGN_OR_RETURN(const bool has_device, ReadNumber(root, "device_id", &device));
  if (!has_device) return Missing("device_id");
  // A number beyond an int64's is that of no GPU either.
  request.region.device_id =
      static_cast<int64_t>(std::min<uint64_t>(device, std::numeric_limits<int64_t>::max()));
  ASSIGN_OR_RETURN(const bool has_size, ReadNumber(root, "byte_size", &request.region.byte_size));
  if (!has_size) return Missing("byte_size");
  return request;
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

std::string ToJson(const std::vector<CudaMemoryRegion>& regions) {
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  for (const CudaMemoryRegion& region : regions) {
    json.BeginObject();
    json.Add("name", region.name);
    json.Add("device_id", region.device_id);
    json.Add("byte_size", region.byte_size);
    json.EndObject();
  }
  json.EndArray();
  return text;
}

}  // namespace nereid
