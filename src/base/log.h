// The process-wide log. Thread-safe.
//
//   LOG_INFO << "loaded " << name;      LOG_VERBOSE(1) << "...";
//
// A line is written with one write(2). INFO goes to stdout, WARNING and ERROR to stderr, or all of
// them to the log file when there is one. Formats: see LogFormat.
#ifndef NEREID_BASE_LOG_H_
#define NEREID_BASE_LOG_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <sstream>
#include <string>

#include "base/export.h"

namespace nereid {

enum class LogLevel : int { kInfo = 0, kWarning = 1, kError = 2, kVerbose = 3 };

// kDefault: `I1121 10:20:30.123456 4242 file.cc:12] "message"`, kIso8601:
// `2026-11-21T10:20:30Z I 4242 file.cc:12] "message"`.
enum class LogFormat : int { kDefault = 0, kIso8601 = 1 };

struct LogSettings {
  bool info = true;
  bool warning = true;
  bool error = true;
  int verbose_level = 0;
  LogFormat format = LogFormat::kDefault;
  std::string file;             // empty: console
  bool escape_messages = true;  // messages are JSON strings, so that no input can forge a line
};

class NEREID_API Log {
 public:
  // Whether the level is on: INFO, WARNING and ERROR by their own switches, VERBOSE when its level
  // is at least 1.
  static bool IsEnabled(LogLevel level);
  static bool IsVerboseEnabled(int level);
  static LogSettings Settings();
  // INTERNAL if the file cannot be opened for appending; the settings then stay as they were.
  static absl::Status Configure(const LogSettings& settings);
  // A line is lost if there is no memory for it or if it cannot be written.
  static void Write(LogLevel level, const char* file, int line, absl::string_view message) noexcept;
  // Writes several lines unchanged and without a prefix (a table for human readers) to the same
  // place as INFO.
  static void WriteBlock(absl::string_view text);
};

namespace log_internal {
class NEREID_API Line {
 public:
  Line(LogLevel level, const char* file, int line) : level_(level), file_(file), line_(line) {}
  ~Line();
  std::ostream& stream() { return stream_; }

 private:
  LogLevel level_;
  const char* file_;
  int line_;
  std::ostringstream stream_;
};
struct Voidify {
  void operator&(std::ostream&) {}
};
}  // namespace log_internal
}  // namespace nereid

#define NEREID_LOG(enabled, level)                 \
  !(enabled) ? (void)0                             \
             : ::nereid::log_internal::Voidify() & \
                   ::nereid::log_internal::Line(level, __FILE__, __LINE__).stream()
#define LOG_INFO \
  NEREID_LOG(::nereid::Log::IsEnabled(::nereid::LogLevel::kInfo), ::nereid::LogLevel::kInfo)
#define LOG_WARNING \
  NEREID_LOG(::nereid::Log::IsEnabled(::nereid::LogLevel::kWarning), ::nereid::LogLevel::kWarning)
#define LOG_ERROR \
  NEREID_LOG(::nereid::Log::IsEnabled(::nereid::LogLevel::kError), ::nereid::LogLevel::kError)
#define LOG_VERBOSE(n) NEREID_LOG(::nereid::Log::IsVerboseEnabled(n), ::nereid::LogLevel::kVerbose)

#endif  // NEREID_BASE_LOG_H_
