// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/repository_request.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/known_names.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

constexpr char kParameters[] = "parameters";
constexpr char kReady[] = "ready";
constexpr char kUnloadDependents[] = "unload_dependents";

absl::Status NoObject() {
  return absl::InvalidArgumentError("attempt to access JSON non-object as object");
}

// REQUIRES: `body` is not empty.
absl::Status ParseObject(absl::string_view body, const ParseBudget& budget, JsonTree* root) {
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, budget, root));
  return root->IsObject() ? absl::OkStatus() : NoObject();
}

// The member `parameters`, which is an object and the only member; null if there is none. `what`
// describes a member.
absl::StatusOr<const JsonValue*> FindParameters(const JsonValue& root, absl::string_view what) {
  RETURN_IF_ERROR(CheckMembers(root, what, {kParameters}));
  const JsonValue* parameters = FindMember(root, kParameters);
  if (parameters != nullptr && !parameters->IsObject()) return NoObject();
  return parameters;
}

absl::StatusOr<LoadParameter> ToLoadParameter(std::string name, const JsonValue& value) {
  ASSIGN_OR_RETURN(const absl::string_view text, AsString(value));
  if (name == "config") {
    return LoadParameter{std::move(name), LoadParameter::Type::kString, std::string(text)};
  }
  if (!absl::StartsWith(name, "file:")) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected error on creating Triton parameter: ",
                     CheckKnown("load parameter", name, {"config", "file:<path>"}).message()));
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
  ASSIGN_OR_RETURN(const JsonValue* const parameters,
                   FindParameters(root, "member of a load request"));
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
  ASSIGN_OR_RETURN(const JsonValue* const parameters,
                   FindParameters(root, "member of an unload request"));
  if (parameters == nullptr) return false;
  RETURN_IF_ERROR(CheckMembers(*parameters, "unload parameter", {kUnloadDependents}));
  const JsonValue* with_members = FindMember(*parameters, kUnloadDependents);
  if (with_members == nullptr) return false;
  const absl::StatusOr<bool> value = AsBool(*with_members);
  if (!value.ok()) return UnableToParse(kUnloadDependents, value.status());
  return value;
}

absl::StatusOr<bool> ReadIndexRequest(absl::string_view body, const ParseBudget& budget) {
  if (body.empty()) return false;
  JsonTree root;
  RETURN_IF_ERROR(ParseObject(body, budget, &root));
  RETURN_IF_ERROR(CheckMembers(root, "member of an index request", {kReady}));
  const JsonValue* ready = FindMember(root, kReady);
  if (ready == nullptr) return false;
  if (!ready->IsBool()) {
    return absl::InvalidArgumentError("Invalid value for 'ready': expected a boolean");
  }
  return ready->GetBool();
}

}  // namespace nereid
