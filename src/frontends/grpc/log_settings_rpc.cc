// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/log_settings_rpc.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <string>

#include "base/status_macros.h"
#include "frontends/codec/known_names.h"
#include "frontends/codec/log_settings.h"

namespace nereid {
namespace {

using Given = inference::LogSettingsRequest::SettingValue;

// Null if the request does not name it.
const Given* Find(const inference::LogSettingsRequest& request, const char* name) {
  const auto it = request.settings().find(name);
  return it == request.settings().end() ? nullptr : &it->second;
}

absl::Status Expected(const char* kind, const char* name) {
  return absl::InvalidArgumentError(absl::StrCat("expect ", kind, " for '", name, "'"));
}

absl::Status Apply(const inference::LogSettingsRequest& request) {
  for (const auto& [name, value] : request.settings()) {
    RETURN_IF_ERROR(CheckKnown(kLogSettingKind, name, kLogSettingNames));
  }
  if (Find(request, kLogFile) != nullptr) return LogFileRefused();
  for (const LogSwitch& one : kLogSwitches) {
    const Given* const given = Find(request, one.name);
    if (given == nullptr) continue;
    if (!given->has_bool_param()) return Expected("boolean", one.name);
    RETURN_IF_ERROR(SetLogSwitch(one, given->bool_param()));
  }
  if (const Given* const given = Find(request, kLogVerboseLevel)) {
    if (!given->has_uint32_param()) return Expected("int32", kLogVerboseLevel);
    RETURN_IF_ERROR(SetLogVerboseLevel(given->uint32_param()));
  }
  if (const Given* const given = Find(request, kLogFormat)) {
    if (!given->has_string_param()) return Expected("string", kLogFormat);
    const std::optional<LogFormat> format = FindLogFormat(given->string_param());
    if (!format.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid argument for log_format, got: ", given->string_param()));
    }
    RETURN_IF_ERROR(SetLogFormat(*format));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UpdateLogSettings(Server* /*server*/, const inference::LogSettingsRequest& request,
                               inference::LogSettingsResponse* response) {
  RETURN_IF_ERROR(Apply(request));
  const LogSettings settings = Log::Settings();
  auto& all = *response->mutable_settings();
  all[kLogFile].set_string_param(settings.file);
  for (const LogSwitch& one : kLogSwitches) {
    all[one.name].set_bool_param(settings.*one.value);
  }
  all[kLogVerboseLevel].set_uint32_param(static_cast<uint32_t>(settings.verbose_level));
  all[kLogFormat].set_string_param(std::string(LogFormatName(settings.format)));
  return absl::OkStatus();
}

}  // namespace nereid
