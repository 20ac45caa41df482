// SPDX-License-Identifier: Apache-2.0
// The log, one for the whole process: TRITONSERVER_Log* and the options that set it.
#include "base/log.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "c_api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::Log;
using nereid::LogFormat;
using nereid::LogLevel;
using nereid::LogSettings;
using nereid::ToCError;

namespace {

template <typename Change>
TRITONSERVER_Error* ChangeLog(const Change& change) {
  return ToCError(Log::Change(change));
}

}  // namespace

extern "C" {

bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level) {
  return Log::IsEnabled(static_cast<LogLevel>(level));
}

TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char* filename,
                                            const int line, const char* msg) try {
  switch (level) {
    case TRITONSERVER_LOG_INFO:
    case TRITONSERVER_LOG_WARN:
    case TRITONSERVER_LOG_ERROR:
    case TRITONSERVER_LOG_VERBOSE: {
      const LogLevel known = static_cast<LogLevel>(level);
      if (Log::IsEnabled(known)) {
        Log::Write(known, filename == nullptr ? "" : filename, line, nereid::Text(msg));
      }
      return nullptr;
    }
  }
  return ToCError(absl::InvalidArgumentError(
      absl::StrCat("unknown logging level '", static_cast<int>(level), "'")));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFile(TRITONSERVER_ServerOptions* options,
                                                         const char* file) try {
  return ChangeLog([file](LogSettings* log) { log->file = std::string(nereid::Text(file)); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogInfo(TRITONSERVER_ServerOptions* options,
                                                         bool log) try {
  return ChangeLog([log](LogSettings* settings) { settings->info = log; });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogWarn(TRITONSERVER_ServerOptions* options,
                                                         bool log) try {
  return ChangeLog([log](LogSettings* settings) { settings->warning = log; });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogError(TRITONSERVER_ServerOptions* options,
                                                          bool log) try {
  return ChangeLog([log](LogSettings* settings) { settings->error = log; });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFormat(
    TRITONSERVER_ServerOptions* options, const TRITONSERVER_LogFormat format) try {
  if (format != TRITONSERVER_LOG_DEFAULT && format != TRITONSERVER_LOG_ISO8601) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat("unknown logging format '", static_cast<int>(format), "'")));
  }
  return ChangeLog(
      [format](LogSettings* settings) { settings->format = static_cast<LogFormat>(format); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogVerbose(TRITONSERVER_ServerOptions* options,
                                                            int level) try {
  return ChangeLog(
      [level](LogSettings* settings) { settings->verbose_level = std::max(0, level); });
} catch (...) {
  return CaughtError();
}

}  // extern "C"
