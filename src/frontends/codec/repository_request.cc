#include "frontends/codec/repository_request.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

absl::Status NoObject() {
  return absl::InvalidArgumentError("attempt to access JSON non-object as object");
}

// REQUIRES: `body` is not empty.
absl::Status ParseObject(absl::string_view body, const ParseBudget& budget, JsonTree* root) {
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, budget, root));
  return root->IsObject() ? absl::OkStatus() : NoObject();
}

// The member `parameters`, which is an object; null if there is none.
absl::StatusOr<const JsonValue*> FindParameters(const JsonValue& root) {
  const JsonValue* parameters = FindMember(root, "parameters");
  if (parameters != nullptr && !parameters->IsObject()) return NoObject();
  return parameters;
}

absl::StatusOr<LoadParameter> ToLoadParameter(std::string name, const JsonValue& value) {
  ASSIGN_OR_RETURN(const absl::string_view text, AsString(value));
  if (name == "config") {
    return LoadParameter{std::move(name), LoadParameter::Type::kString, std::string(text)};
  }
  if (!absl::StartsWith(name, "file:")) {
    return absl::InvalidArgumentError("unexpected error on creating Triton parameter");
  }
  std::string content;
  if (!absl::Base64Unescape(text, &content)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the value of load parameter '", name, "' is not in base64"));
  }
  return LoadParameter{std::move(name), LoadParameter::Type::kBytes, std::move(content)};
}

}  // namespace

absl::StatusOr<std::vector<LoadParameter>> ReadLoadRequest(absl::string_view body,
                                                           const ParseBudget& budget) {
  std::vector<LoadParameter> load;
  if (body.empty()) return load;
  JsonTree root;
  RETURN_IF_ERROR(ParseObject(body, budget, &root));
  ASSIGN_OR_RETURN(const JsonValue* const parameters, FindParameters(root));
  if (parameters == nullptr) return load;
  for (const auto& member : parameters->GetObject()) {
    std::string name(member.name.GetString(), member.name.GetStringLength());
    ASSIGN_OR_RETURN(LoadParameter parameter, ToLoadParameter(std::move(name), member.value));
    load.push_back(std::move(parameter));
  }
  return load;
}

absl::StatusOr<bool> ReadUnloadRequest(absl::string_view body, const ParseBudget& budget) {
  if (body.empty()) return false;
  JsonTree root;
  RETURN_IF_ERROR(ParseObject(body, budget, &root));
  ASSIGN_OR_RETURN(const JsonValue* const parameters, FindParameters(root));
  if (parameters == nullptr) return false;
  const JsonValue* with_members = FindMember(*parameters, "unload_dependents");
  if (with_members == nullptr) return false;
  const absl::StatusOr<bool> value = AsBool(*with_members);
  if (!value.ok()) return UnableToParse("unload_dependents", value.status());
  return value;
}

absl::StatusOr<bool> ReadIndexRequest(absl::string_view body, const ParseBudget& budget) {
  if (body.empty()) return false;
  JsonTree root;
  RETURN_IF_ERROR(ParseObject(body, budget, &root));
  const JsonValue* ready = FindMember(root, "ready");
  if (ready == nullptr) return false;
  if (!ready->IsBool()) {
    return absl::InvalidArgumentError("Invalid value for 'ready': expected a boolean");
  }
  return ready->GetBool();
}

}  // namespace nereid
