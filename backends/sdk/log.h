// SPDX-License-Identifier: Apache-2.0
// Log lines through the server's logger. Thread-safe.
#ifndef NEREID_BACKENDS_SDK_LOG_H_
#define NEREID_BACKENDS_SDK_LOG_H_

#include "backends/sdk/error.h"

namespace nereid_backend {

inline void LogLine(TRITONSERVER_LogLevel level, const char* file, int line,
                    const std::string& text) {
  // A failure to log cannot be reported anywhere.
  Error ignored(TRITONSERVER_LogMessage(level, file, line, text.c_str()));
}

}  // namespace nereid_backend

#define NB_LOG_(level, ...)                                             \
  do {                                                                  \
    if (TRITONSERVER_LogIsEnabled(level)) {                             \
      ::nereid_backend::LogLine(level, __FILE_NAME__, __LINE__,         \
                                ::nereid_backend::StrCat(__VA_ARGS__)); \
    }                                                                   \
  } while (false)
#define NB_LOG_INFO(...) NB_LOG_(TRITONSERVER_LOG_INFO, __VA_ARGS__)
#define NB_LOG_WARNING(...) NB_LOG_(TRITONSERVER_LOG_WARN, __VA_ARGS__)
#define NB_LOG_ERROR(...) NB_LOG_(TRITONSERVER_LOG_ERROR, __VA_ARGS__)
#define NB_LOG_VERBOSE(...) NB_LOG_(TRITONSERVER_LOG_VERBOSE, __VA_ARGS__)

// For calls whose failure cannot be passed on: logs it and continues.
#define NB_LOG_IF_ERROR(expr, ...)                                               \
  do {                                                                           \
    ::nereid_backend::Error nb_logged_{expr};                                    \
    if (!nb_logged_.ok()) NB_LOG_ERROR(__VA_ARGS__, ": ", nb_logged_.message()); \
  } while (false)

#endif  // NEREID_BACKENDS_SDK_LOG_H_
