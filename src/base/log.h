// The process-wide log. Thread-safe.
//
//   LOG_INFO << "loaded " << name;      LOG_VERBOSE(1) << "...";
//   LOG_ERROR << LogAbout{request_id, model} << "...";
//
// A line is written with one write(2). INFO goes to stdout, WARNING and ERROR to stderr, or all of
// them to the log file when there is one. Formats: see LogFormat.
#ifndef NEREID_BASE_LOG_H_
#define NEREID_BASE_LOG_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <optional>
#include <ostream>
#include <sstream>
#include <string>

#include "base/export.h"

namespace nereid {

enum class LogLevel : int { kInfo = 0, kWarning = 1, kError = 2, kVerbose = 3 };

// kDefault: `I1121 10:20:30.123456 4242 file.cc:12] "message"`, kIso8601:
// `2026-11-21T10:20:30Z I 4242 file.cc:12] "message"`, kJson: one object per line, with time,
// level, file, line, message and, where they are known, request_id, model and trace_id. The first
// two equal TRITONSERVER_LogFormat, which has no third.
enum class LogFormat : int { kDefault = 0, kIso8601 = 1, kJson = 2 };
// "default", "ISO8601" or "json".
NEREID_API absl::string_view LogFormatName(LogFormat format);

struct LogSettings {
  bool info = true;
  bool warning = true;
  bool error = true;
  int verbose_level = 0;
  LogFormat format = LogFormat::kDefault;
  std::string file;             // empty: console
  bool escape_messages = true;  // messages are JSON strings, so that no input can forge a line
};

// The request that a line is about. Written to the stream of a line, before anything else. Lines of
// text then begin with "[request id: <id>] ", with <id_unknown> for a request without an id, unless
// the message begins so itself.
struct LogAbout {
  std::string request_id;
  std::string model;
  std::string trace_id;
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
  // The same for the settings as `change` leaves them. No other change comes between.
  static absl::Status Change(absl::FunctionRef<void(LogSettings*)> change);
  // Opens the log file again, by its name: what had it open may have been renamed. Does nothing
  // without a file. INTERNAL if it cannot be opened; the log then stays where it was.
  static absl::Status Reopen();
  // A line is lost if there is no memory for it or if it cannot be written. `about`: null if the
  // line is about no request. Lines without a model name that of the backend call under way on this
  // thread, if any.
  static void Write(LogLevel level, const char* file, int line, absl::string_view message,
                    const LogAbout* about = nullptr) noexcept;
  // Writes several lines unchanged and without a prefix (a table for human readers) to the same
  // place as INFO; in JSON, as one line.
  static void WriteBlock(absl::string_view text);
};

namespace log_internal {
// The text of a line under construction, and what it is about.
class NEREID_API Stream final : public std::ostringstream {
 public:
  std::optional<LogAbout> about;
};
class NEREID_API Line {
 public:
  Line(LogLevel level, const char* file, int line) : level_(level), file_(file), line_(line) {}
  ~Line();
  std::ostream& stream() { return stream_; }

 private:
  LogLevel level_;
  const char* file_;
  int line_;
  Stream stream_;
};
struct Voidify {
  void operator&(std::ostream&) {}
};
}  // namespace log_internal

// REQUIRES: `out` is the stream of a line.
NEREID_API std::ostream& operator<<(std::ostream& out, LogAbout about);

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
