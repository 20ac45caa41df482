// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_error.h"

#include <absl/strings/cord.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <optional>

#include "base/json_writer.h"

namespace nereid {
namespace {

constexpr char kParamPayload[] = "nereid/openai-param";
constexpr char kCodePayload[] = "nereid/openai-code";

const char* TypeOf(int http_status) {
  if (http_status >= 500) return "server_error";
  if (http_status == 401) return "authentication_error";
  if (http_status == 403) return "permission_error";
  return "invalid_request_error";
}

std::optional<std::string> PayloadOf(const absl::Status& error, const char* key) {
  const auto payload = error.GetPayload(key);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

// `message_json` is a JSON string.
std::string ErrorObject(int http_status, absl::string_view message_json,
                        const std::optional<std::string>& param,
                        const std::optional<std::string>& code) {
  std::string json;
  JsonWriter w(&json);
  const auto add = [&w](const char* key, const std::optional<std::string>& value) {
    w.Key(key);
    if (value.has_value()) {
      w.String(*value);
    } else {
      w.Null();
    }
  };
  w.BeginObject();
  w.BeginObject("error");
  w.AddRaw("message", message_json);
  w.Add("type", TypeOf(http_status));
  add("param", param);
  add("code", code);
  w.EndObject();
  w.EndObject();
  return json;
}

}  // namespace

absl::Status OpenAiFieldError(absl::string_view param, absl::string_view message) {
  absl::Status error = absl::InvalidArgumentError(message);
  error.SetPayload(kParamPayload, absl::Cord(param));
  return error;
}

absl::Status WithOpenAiCode(absl::Status error, absl::string_view code) {
  error.SetPayload(kCodePayload, absl::Cord(code));
  return error;
}

std::string OpenAiErrorJson(int http_status, const absl::Status& error) {
  std::string message;
  AppendJsonString(error.message(), &message);
  return ErrorObject(http_status, message, PayloadOf(error, kParamPayload),
                     PayloadOf(error, kCodePayload));
}

void ToOpenAiErrorForm(int http_status, std::string* text) {
  constexpr absl::string_view kBegin = R"({"error":)";
  if (!absl::StartsWith(*text, absl::StrCat(kBegin, "\"")) || !absl::EndsWith(*text, "\"}")) return;
  absl::string_view message = *text;
  message.remove_prefix(kBegin.size());
  message.remove_suffix(1);
  std::optional<std::string> code;
  if (http_status == 401) code = "invalid_api_key";
  *text = ErrorObject(http_status, message, std::nullopt, code);
}

}  // namespace nereid
