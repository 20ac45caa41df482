// SPDX-License-Identifier: Apache-2.0
// The log settings as clients see and change them: one function per member of a request, so that
// the protocols refuse a value with their own texts, and the JSON form. Thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_LOG_SETTINGS_H_
#define NEREID_FRONTENDS_CODEC_LOG_SETTINGS_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "frontends/codec/parse_cost.h"

namespace nereid {

inline constexpr char kLogFile[] = "log_file";
inline constexpr char kLogVerboseLevel[] = "log_verbose_level";
inline constexpr char kLogFormat[] = "log_format";

// The settings that switch a level on and off.
struct LogSwitch {
  const char* name;
  bool LogSettings::*value;
};
inline constexpr LogSwitch kLogSwitches[] = {{"log_info", &LogSettings::info},
                                             {"log_warning", &LogSettings::warning},
                                             {"log_error", &LogSettings::error}};

// All names, of which that of the file is refused (LogFileRefused).
inline constexpr absl::string_view kLogSettingNames[] = {
    kLogFile, "log_info", "log_warning", "log_error", kLogVerboseLevel, kLogFormat};
// What a name is, for those who refuse another one.
inline constexpr char kLogSettingKind[] = "log setting";

// UNIMPLEMENTED: the file is chosen by who starts the server.
absl::Status LogFileRefused();
// The format of that name; none if there is none.
std::optional<LogFormat> FindLogFormat(absl::string_view name);
// Each changes the settings of the process at once.
absl::Status SetLogSwitch(const LogSwitch& which, bool on);
absl::Status SetLogVerboseLevel(uint64_t level);
absl::Status SetLogFormat(LogFormat format);

// Applies a request body, member by member. Members that are null or missing change nothing, and
// those before a bad one have been applied, but nothing has if there is one with an unknown name.
// INVALID_ARGUMENT, UNIMPLEMENTED for the file, UNAVAILABLE for an unknown format.
absl::Status ApplyLogSettings(absl::string_view json, const ParseBudget& budget);
std::string LogSettingsToJson(const LogSettings& settings);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_LOG_SETTINGS_H_
