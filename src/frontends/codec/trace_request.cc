// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/trace_request.h"

#include <absl/container/inlined_vector.h>
#include <absl/strings/str_join.h>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

absl::Status ReadLevel(const JsonValue& value, TraceUpdate* update) {
  if (value.IsNull()) {
    ClearTraceSetting(kTraceLevelKey, update);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(UnableToParse(kTraceLevelKey, CheckArray(value)));
  absl::InlinedVector<absl::string_view, 4> words;
  for (const JsonValue& item : value.GetArray()) {
    const absl::StatusOr<absl::string_view> word = AsString(item);
    if (!word.ok()) return UnableToParse(kTraceLevelKey, word.status());
    words.push_back(*word);
  }
  return SetTraceLevel(words, update);
}

absl::Status ReadNumber(const char* key, const JsonValue& value, TraceUpdate* update) {
  if (value.IsNull()) {
    ClearTraceSetting(key, update);
    return absl::OkStatus();
  }
  const absl::StatusOr<absl::string_view> text = AsString(value);
  if (!text.ok()) return UnableToParse(key, text.status());
  return SetTraceNumber(key, *text, update);
}

}  // namespace

absl::StatusOr<TraceUpdate> ReadTraceUpdate(absl::string_view body, const ParseBudget& budget) {
  TraceUpdate update;
  JsonTree root;
  RETURN_IF_ERROR(ParseJson(body, RequestLimits{}.max_json_depth, budget, &root));
  if (FindMember(root, kTraceFileKey) != nullptr) return TraceFileIsFixed();
  RETURN_IF_ERROR(CheckMembers(root, kTraceSettingKind, kTraceSettingNames));
  if (const JsonValue* const level = FindMember(root, kTraceLevelKey)) {
    RETURN_IF_ERROR(ReadLevel(*level, &update));
  }
  for (const char* key : {kTraceRateKey, kTraceCountKey, kLogFrequencyKey}) {
    if (const JsonValue* const value = FindMember(root, key)) {
      RETURN_IF_ERROR(ReadNumber(key, *value, &update));
    }
  }
  return update;
}

std::string ToJson(const std::vector<TraceSettingText>& settings) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  for (const TraceSettingText& setting : settings) {
    json.Key(setting.key);
    if (!setting.is_list) {
      json.String(absl::StrJoin(setting.values, ","));
      continue;
    }
    json.BeginArray();
    for (const std::string& value : setting.values) json.String(value);
    json.EndArray();
  }
  json.EndObject();
  return text;
}

}  // namespace nereid
