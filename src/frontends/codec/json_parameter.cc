#include "frontends/codec/json_parameter.h"

#include <absl/strings/str_cat.h>

#include <string>

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"

namespace nereid {

absl::StatusOr<Parameter> ReadJsonParameter(absl::string_view key, const JsonValue& value) {
  RETURN_IF_ERROR(CheckLength("name of a parameter", key));
  Parameter parameter{std::string(key), {}};
  if (value.IsString()) {
    RETURN_IF_ERROR(CheckLength(absl::StrCat("parameter '", key, "'"),
                                absl::string_view(value.GetString(), value.GetStringLength()),
                                kMaxParameterBytes));
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
