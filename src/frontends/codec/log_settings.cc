// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/log_settings.h"

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

// The member, unless it is null or missing.
const JsonValue* FindSet(const JsonValue& root, const char* name) {
  const JsonValue* const member = FindMember(root, name);
  return member == nullptr || member->IsNull() ? nullptr : member;
}

}  // namespace

absl::Status LogFileRefused() {
  return absl::UnimplementedError("log file location can not be updated through network protocol");
}

std::optional<LogFormat> FindLogFormat(absl::string_view name) {
  for (const LogFormat format : {LogFormat::kDefault, LogFormat::kIso8601, LogFormat::kJson}) {
    if (LogFormatName(format) == name) return format;
  }
  return std::nullopt;
}

absl::Status SetLogSwitch(const LogSwitch& which, bool on) {
  return Log::Change([&](LogSettings* settings) { settings->*which.value = on; });
}

absl::Status SetLogVerboseLevel(uint64_t level) {
  constexpr uint64_t kMost = std::numeric_limits<int>::max();
  const int known = static_cast<int>(std::min(level, kMost));
  return Log::Change([known](LogSettings* settings) { settings->verbose_level = known; });
}

absl::Status SetLogFormat(LogFormat format) {
  return Log::Change([format](LogSettings* settings) { settings->format = format; });
}

absl::Status ApplyLogSettings(absl::string_view json, const ParseBudget& budget) {
  JsonTree root;
  RETURN_IF_ERROR(ParseJson(json, RequestLimits{}.max_json_depth, budget, &root));
  RETURN_IF_ERROR(CheckMembers(root, kLogSettingKind, kLogSettingNames));
  if (FindSet(root, kLogFile) != nullptr) return LogFileRefused();
  for (const LogSwitch& one : kLogSwitches) {
    const JsonValue* const member = FindSet(root, one.name);
    if (member == nullptr) continue;
    ASSIGN_OR_RETURN(const bool on, AsBool(*member));
    RETURN_IF_ERROR(SetLogSwitch(one, on));
  }
  if (const JsonValue* const level = FindSet(root, kLogVerboseLevel)) {
    ASSIGN_OR_RETURN(const uint64_t number, AsUint(*level));
    RETURN_IF_ERROR(SetLogVerboseLevel(number));
  }
  if (const JsonValue* const format = FindSet(root, kLogFormat)) {
    ASSIGN_OR_RETURN(const absl::string_view name, AsString(*format));
    const std::optional<LogFormat> known = FindLogFormat(name);
    if (!known.has_value()) {
      return absl::UnavailableError(absl::StrCat("invalid argument for --log_format, got: ", name));
    }
    RETURN_IF_ERROR(SetLogFormat(*known));
  }
  return absl::OkStatus();
}

std::string LogSettingsToJson(const LogSettings& settings) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Add(kLogFile, settings.file);
  for (const LogSwitch& one : kLogSwitches) {
    json.Add(one.name, settings.*one.value);
  }
  json.Add(kLogVerboseLevel, settings.verbose_level);
  json.Add(kLogFormat, LogFormatName(settings.format));
  json.EndObject();
  return text;
}

}  // namespace nereid
