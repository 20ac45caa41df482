#include "base/log.h"

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

#include "base/json_writer.h"
#include "base/mutex.h"

namespace nereid {
namespace {

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
  if (settings.file != state.settings.file) {
    int fd = -1;
    if (!settings.file.empty()) {
      fd = open(settings.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
      if (fd < 0) {
        return absl::InternalError(absl::StrCat("failed to open log file '", settings.file,
                                                "' for appending: ", strerror(errno)));
      }
    }
    if (state.fd >= 0) close(state.fd);
    state.fd = fd;
  }
  state.settings = settings;
  g_enabled.store((settings.info ? kInfoBit : 0) | (settings.warning ? kWarningBit : 0) |
                  (settings.error ? kErrorBit : 0));
  g_verbose.store(settings.verbose_level);
  return absl::OkStatus();
}

void Log::Write(LogLevel level, const char* file, int line, absl::string_view message) noexcept
    try {
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  std::string text = Prefix(state.settings.format, level);
  absl::StrAppend(&text, BaseName(file), ":", line, "] ");
  if (state.settings.escape_messages) {
    AppendJsonString(message, &text);
  } else {
    absl::StrAppend(&text, message);
  }
  text += '\n';
  int fd = state.fd;
  if (fd < 0) {
    fd = level == LogLevel::kWarning || level == LogLevel::kError ? STDERR_FILENO : STDOUT_FILENO;
  }
  WriteAll(fd, text);
} catch (const std::bad_alloc&) {
}

void Log::WriteBlock(absl::string_view text) {
  if (!IsEnabled(LogLevel::kInfo)) return;
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  WriteAll(state.fd < 0 ? STDOUT_FILENO : state.fd, text);
}

namespace log_internal {

Line::~Line() {
  try {
    Log::Write(level_, file_, line_, stream_.str());
  } catch (const std::bad_alloc&) {
    // The line is lost.
  }
}

}  // namespace log_internal
}  // namespace nereid
