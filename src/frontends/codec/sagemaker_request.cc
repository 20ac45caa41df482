// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/sagemaker_request.h"

#include <absl/strings/str_cat.h>

#include <cstddef>

#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

constexpr size_t kMostNameBytes = 1024;
constexpr size_t kMostUrlBytes = 4096;

absl::StatusOr<std::string> ReadText(const JsonValue& root, const char* name, size_t most) {
  ASSIGN_OR_RETURN(const JsonValue* const value, GetMember(root, name));
  ASSIGN_OR_RETURN(const absl::string_view text, AsString(*value));
  if (text.empty() || text.size() > most) {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' must have 1 to ", most, " bytes"));
  }
  return std::string(text);
}

}  // namespace

absl::StatusOr<SagemakerLoad> ReadSagemakerLoad(absl::string_view body, const ParseBudget& budget) {
  JsonTree root;
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, budget, &root));
  SagemakerLoad load;
  ASSIGN_OR_RETURN(load.name, ReadText(root, "model_name", kMostNameBytes));
  ASSIGN_OR_RETURN(load.url, ReadText(root, "url", kMostUrlBytes));
  return load;
}

}  // namespace nereid
