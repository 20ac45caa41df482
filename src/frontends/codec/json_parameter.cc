#include "frontends/codec/json_parameter.h"

#include <absl/strings/str_cat.h>

#include <string>

namespace nereid {

absl::StatusOr<Parameter> ReadJsonParameter(absl::string_view key, const JsonValue& value) {
  Parameter parameter{std::string(key), {}};
  if (value.IsString()) {
    parameter.value = std::string(value.GetString(), value.GetStringLength());
  } else if (value.IsBool()) {
    parameter.value = value.GetBool();
  } else if (value.IsInt64()) {
    parameter.value = value.GetInt64();
  } else if (value.IsNumber()) {
    parameter.value = value.GetDouble();
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameter '", key, "' has invalid type. It should be either 'int', 'bool', or 'string'."));
  }
  return parameter;
}

}  // namespace nereid
