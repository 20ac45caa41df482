// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/json_parameter.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <optional>
#include <string>
#include <variant>

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

absl::Status NoJsonForm(absl::string_view name, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("response parameter '", name, "' cannot be sent as JSON: it ", why, "."));
}

absl::Status WriteDouble(absl::string_view name, double value, NonFinite non_finite,
                         JsonWriter* json) {
  if (std::isfinite(value) || non_finite == NonFinite::kLiteral) {
    json->Double(value);
  } else if (non_finite == NonFinite::kNull) {
    json->Null();
  } else if (non_finite == NonFinite::kString) {
    std::string text;
    AppendJsonDouble(value, &text);
    json->String(text);
  } else {
    return NoJsonForm(name, absl::StrCat("is NaN or infinite. Ask for another '",
                                         kNonFiniteParameter, "' than 'error'"));
  }
  return absl::OkStatus();
}

}  // namespace

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

absl::StatusOr<NonFinite> ReadNonFinite(const JsonValue& value) {
  const absl::StatusOr<absl::string_view> text = AsString(value);
  if (!text.ok()) return UnableToParse(kNonFiniteParameter, text.status());
  if (const std::optional<NonFinite> read = ParseNonFinite(*text)) return *read;
  return absl::InvalidArgumentError(absl::StrCat("Unable to parse '", kNonFiniteParameter,
                                                 "': use literal, null, string or error"));
}

absl::Status WriteJsonParameter(absl::string_view name, const ParameterValue& value,
                                NonFinite non_finite, JsonWriter* json) {
  json->Key(name);
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (!json->String(*text)) return NoJsonForm(name, "is not UTF-8");
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    json->Int(*number);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    json->Bool(*truth);
  } else {
    return WriteDouble(name, std::get<double>(value), non_finite, json);
  }
  return absl::OkStatus();
}

}  // namespace nereid
