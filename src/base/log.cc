#include "base/log.h"

#include <absl/status/statusor.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "base/crash_context.h"
#include "base/json_writer.h"
#include "base/log_tail.h"
#include "base/mutex.h"

namespace nereid {
namespace {

constexpr absl::string_view kRequestPrefix = "[request id: ";

// Bits of `g_enabled` that IsEnabled reads without a lock.
constexpr uint32_t kInfoBit = 1, kWarningBit = 2, kErrorBit = 4;

std::atomic<uint32_t> g_enabled{kInfoBit | kWarningBit | kErrorBit};
std::atomic<int> g_verbose{0};

struct State {
  Mutex mu;
  LogSettings settings ABSL_GUARDED_BY(mu);
  int fd ABSL_GUARDED_BY(mu) = -1;
};
State& GlobalState() {
  static State* const state = new State;
  return *state;
}

const char* BaseName(const char* file) {
  const char* slash = strrchr(file, '/');
  return slash == nullptr ? file : slash + 1;
}

char LevelLetter(LogLevel level) {
  switch (level) {
    case LogLevel::kWarning:
      return 'W';
    case LogLevel::kError:
      return 'E';
    case LogLevel::kInfo:
    case LogLevel::kVerbose:
      return 'I';
  }
  return 'I';
}

std::string Prefix(LogFormat format, LogLevel level) {
  timeval now;
  gettimeofday(&now, nullptr);
  tm t;
  if (format == LogFormat::kIso8601) {
    gmtime_r(&now.tv_sec, &t);
    return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02dZ %c %d ", t.tm_year + 1900, t.tm_mon + 1,
                           t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, LevelLetter(level), getpid());
  }
  localtime_r(&now.tv_sec, &t);
  return absl::StrFormat("%c%02d%02d %02d:%02d:%02d.%06d %d ", LevelLetter(level), t.tm_mon + 1,
                         t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, now.tv_usec, getpid());
}

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
    case LogLevel::kVerbose:
      return "VERBOSE";
  }
  return "INFO";
}

std::string TextLine(const LogSettings& settings, LogLevel level, const char* file, int line,
                     absl::string_view message, const LogAbout* about) {
  std::string text = Prefix(settings.format, level);
  absl::StrAppend(&text, BaseName(file), ":", line, "] ");
  std::string whole;
  if (about != nullptr && !absl::StartsWith(message, kRequestPrefix)) {
    whole =
        absl::StrCat(kRequestPrefix, about->request_id.empty() ? "<id_unknown>" : about->request_id,
                     "] ", message);
    message = whole;
  }
  if (settings.escape_messages) {
    AppendJsonString(message, &text);
  } else {
    absl::StrAppend(&text, message);
  }
  return text;
}

// Time in RFC 3339, with microseconds.
std::string JsonTime() {
  timeval now;
  gettimeofday(&now, nullptr);
  tm t;
  gmtime_r(&now.tv_sec, &t);
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", t.tm_year + 1900, t.tm_mon + 1,
                         t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, now.tv_usec);
}

// `about`: null if the line is about no request.
absl::string_view ModelOf(const LogAbout* about) {
  const bool has_model = about != nullptr && !about->model.empty();
  return has_model ? absl::string_view(about->model) : CrashContext::CurrentModel();
}

std::string JsonLine(LogLevel level, const char* file, int line, absl::string_view message,
                     const LogAbout* about) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  const auto add = [&json](const char* key, absl::string_view value) {
    if (value.empty()) return;
    json.Key(key);
    json.String(value);
  };
  add("time", JsonTime());
  add("level", LevelName(level));
  add("file", BaseName(file));
  json.Key("line");
  json.Int(line);
  json.Key("message");
  json.String(message);
  if (about != nullptr) add("request_id", about->request_id);
  add("model", ModelOf(about));
  if (about != nullptr) add("trace_id", about->trace_id);
  json.EndObject();
  return text;
}

// `place`: empty for a block of lines.
void AddToTail(LogLevel level, std::string place, absl::string_view message,
               const LogAbout* about) {
  timeval now;
  gettimeofday(&now, nullptr);
  LogLine line;
  line.unix_us = static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_usec);
  line.level = LevelName(level);
  line.place = std::move(place);
  line.message = std::string(message.substr(0, LogTail::kMostMessage + 1));
  if (about != nullptr) line.request_id = about->request_id;
  line.model = std::string(ModelOf(about));
  LogTail::Global()->Add(std::move(line));
}

// -1 for no file. INTERNAL if it cannot be opened.
absl::StatusOr<int> OpenLog(const std::string& file) {
  if (file.empty()) return -1;
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd >= 0) return fd;
  return absl::InternalError(
      absl::StrCat("failed to open log file '", file, "' for appending: ", strerror(errno)));
}

// Applies `settings`, with `state` locked.
absl::Status ApplySettings(const LogSettings& settings, State* state)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->mu) {
  if (settings.file != state->settings.file) {
    const absl::StatusOr<int> fd = OpenLog(settings.file);
    if (!fd.ok()) return fd.status();
    if (state->fd >= 0) close(state->fd);
    state->fd = *fd;
  }
  state->settings = settings;
  g_enabled.store((settings.info ? kInfoBit : 0) | (settings.warning ? kWarningBit : 0) |
                  (settings.error ? kErrorBit : 0));
  g_verbose.store(settings.verbose_level);
  return absl::OkStatus();
}

void WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return;  // a log that cannot be written must not stop the server
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

absl::string_view LogFormatName(LogFormat format) {
  switch (format) {
    case LogFormat::kDefault:
      return "default";
    case LogFormat::kIso8601:
      return "ISO8601";
    case LogFormat::kJson:
      return "json";
  }
  return "default";
}

bool Log::IsEnabled(LogLevel level) {
  const uint32_t bits = g_enabled.load(std::memory_order_relaxed);
  switch (level) {
    case LogLevel::kInfo:
      return bits & kInfoBit;
    case LogLevel::kWarning:
      return bits & kWarningBit;
    case LogLevel::kError:
      return bits & kErrorBit;
    case LogLevel::kVerbose:
      return IsVerboseEnabled(1);
  }
  return false;
}

bool Log::IsVerboseEnabled(int level) { return g_verbose.load(std::memory_order_relaxed) >= level; }

LogSettings Log::Settings() {
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  return state.settings;
}

absl::Status Log::Configure(const LogSettings& settings) {
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  return ApplySettings(settings, &state);
}

absl::Status Log::Change(absl::FunctionRef<void(LogSettings*)> change) {
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  LogSettings settings = state.settings;
  change(&settings);
  return ApplySettings(settings, &state);
}

absl::Status Log::Reopen() {
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  const absl::StatusOr<int> fd = OpenLog(state.settings.file);
  if (!fd.ok()) return fd.status();
  if (state.fd >= 0) close(state.fd);
  state.fd = *fd;
  return absl::OkStatus();
}

void Log::Write(LogLevel level, const char* file, int line, absl::string_view message,
                const LogAbout* about) noexcept try {
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  std::string text = state.settings.format == LogFormat::kJson
                         ? JsonLine(level, file, line, message, about)
                         : TextLine(state.settings, level, file, line, message, about);
  text += '\n';
  int fd = state.fd;
  if (fd < 0) {
    fd = level == LogLevel::kWarning || level == LogLevel::kError ? STDERR_FILENO : STDOUT_FILENO;
  }
  WriteAll(fd, text);
  AddToTail(level, absl::StrCat(BaseName(file), ":", line), message, about);
} catch (const std::bad_alloc&) {
}

void Log::WriteBlock(absl::string_view text) {
  if (!IsEnabled(LogLevel::kInfo)) return;
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  if (state.settings.format == LogFormat::kJson) {
    const std::string line = JsonLine(LogLevel::kInfo, "", 0, text, nullptr) + "\n";
    WriteAll(state.fd < 0 ? STDOUT_FILENO : state.fd, line);
  } else {
    WriteAll(state.fd < 0 ? STDOUT_FILENO : state.fd, text);
  }
  AddToTail(LogLevel::kInfo, "", text, nullptr);
}

namespace log_internal {

Line::~Line() {
  try {
    Log::Write(level_, file_, line_, stream_.str(),
               stream_.about.has_value() ? &*stream_.about : nullptr);
  } catch (const std::bad_alloc&) {
    // The line is lost.
  }
}

}  // namespace log_internal

std::ostream& operator<<(std::ostream& out, LogAbout about) {
  static_cast<log_internal::Stream&>(out).about = std::move(about);
  return out;
}

}  // namespace nereid
