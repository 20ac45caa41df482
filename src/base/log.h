// SPDX-License-Identifier: Apache-2.0
// The process-wide log. Thread-safe.
//
//   LOG_INFO << "loaded " << name;      LOG_VERBOSE(1) << "...";
//   LOG_ERROR << LogAbout{request_id, model} << "...";
//   LOG_WARNING_SELDOM << "...";        for what a client can cause as often as it likes
//
// INFO and VERBOSE go to stdout, WARNING and ERROR to stderr, or all of them to the log file when
// there is one. Formats: see LogFormat.
//
// While a BackgroundLog exists, as one does in each server, a thread of the log writes, and nobody
// who logs waits for a disk or for whoever reads the log: lines that come faster than they can be
// written are dropped and counted, and a line says how many are missing. Otherwise whoever logs
// writes, and waits for a reader for a second at most.
#ifndef NEREID_BASE_LOG_H_
#define NEREID_BASE_LOG_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>

#include "base/clock.h"
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
  // A line is lost if there is no memory or no room for it, or if it cannot be written. `about`:
  // null if the line is about no request. Lines without a model name that of the backend call under
  // way on this thread, if any.
  static void Write(LogLevel level, const char* file, int line, absl::string_view message,
                    const LogAbout* about = nullptr) noexcept;
  // Writes several lines unchanged and without a prefix (a table for human readers) to the same
  // place as INFO; in JSON, as one line.
  static void WriteBlock(absl::string_view text);
  // Waits until the lines that were logged before are written, for as long as a reader may take at
  // the end of a process (kFlushPatience). For those who leave by _exit.
  static constexpr Duration kFlushPatience = std::chrono::seconds(1);
  static void Flush();
  // How many lines have been lost so far.
  static uint64_t dropped();
};

// See above. They may be many; the last one ends the thread.
class NEREID_API BackgroundLog {
 public:
  // Throws std::system_error if there is no thread.
  BackgroundLog();
  // The last one waits until all lines are written, but not for a reader that does not read.
  ~BackgroundLog();
  BackgroundLog(const BackgroundLog&) = delete;
  BackgroundLog& operator=(const BackgroundLog&) = delete;

 private:
  const uint64_t process_;  // a forked child inherits the object, but not the thread
};

// How often one place may log: so many lines at once, and one every period. Thread-safe.
class NEREID_API LogRate {
 public:
  static constexpr int kBurst = 10;
  static constexpr Duration kPeriod = std::chrono::seconds(1);

  constexpr explicit LogRate(int burst = kBurst, Duration period = kPeriod)
      : burst_(burst), period_(period) {}

  // Whether a line may be written at `now`. Then `*suppressed` says how many were not since the
  // last one that was.
  bool Take(TimePoint now, uint64_t* suppressed);

 private:
  const int burst_;
  const Duration period_;
  std::atomic<int64_t> used_until_{0};  // nanoseconds of the steady clock
  std::atomic<uint64_t> suppressed_{0};
};

namespace log_internal {
// Waits a fifth of a second at most for lines that were logged before. Async-signal-safe.
void AwaitLines();

// The text of a line under construction, and what it is about.
class NEREID_API Stream final : public std::ostringstream {
 public:
  std::optional<LogAbout> about;
};
class NEREID_API Line {
 public:
  // `suppressed`: so many similar lines were not written; the line says so.
  Line(LogLevel level, const char* file, int line, uint64_t suppressed = 0)
      : level_(level), file_(file), line_(line), suppressed_(suppressed) {}
  ~Line();
  std::ostream& stream() { return stream_; }

 private:
  LogLevel level_;
  const char* file_;
  int line_;
  uint64_t suppressed_;
  Stream stream_;
};
// The turn of one line of a place that may log seldom.
class NEREID_API SeldomTurn {
 public:
  SeldomTurn(LogLevel level, LogRate* rate)
      : granted_(Log::IsEnabled(level) && rate->Take(Clock::Real()->Now(), &suppressed_)) {}
  bool granted() const { return granted_; }
  void End() { granted_ = false; }
  uint64_t suppressed() const { return suppressed_; }

 private:
  uint64_t suppressed_ = 0;
  bool granted_;
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

// Like LOG_WARNING and LOG_ERROR, within the LogRate of the place where they stand. A line that
// comes after others were suppressed says how many.
#define NEREID_LOG_AT_RATE(level, ...)                                                           \
  for (::nereid::log_internal::SeldomTurn nereid_turn(level,                                     \
                                                      [] {                                       \
                                                        static constinit ::nereid::LogRate rate{ \
                                                            __VA_ARGS__};                        \
                                                        return &rate;                            \
                                                      }());                                      \
       nereid_turn.granted(); nereid_turn.End())                                                 \
  ::nereid::log_internal::Line(level, __FILE__, __LINE__, nereid_turn.suppressed()).stream()
#define LOG_WARNING_SELDOM NEREID_LOG_AT_RATE(::nereid::LogLevel::kWarning)
#define LOG_ERROR_SELDOM NEREID_LOG_AT_RATE(::nereid::LogLevel::kError)
// LOG_VERBOSE(1) for what is about each request: a thousand lines at once, then as many a second.
#define LOG_VERBOSE_REQUEST \
  NEREID_LOG_AT_RATE(::nereid::LogLevel::kVerbose, 1000, ::std::chrono::milliseconds(1))

#endif  // NEREID_BASE_LOG_H_
