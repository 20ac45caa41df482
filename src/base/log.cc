// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <absl/status/statusor.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/strip.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "base/caught.h"
#include "base/crash_context.h"
#include "base/json_writer.h"
#include "base/line_writer.h"
#include "base/log_tail.h"
#include "base/mutex.h"

namespace nereid {
namespace {

constexpr absl::string_view kRequestPrefix = "[request id: ";

// Bits of `g_enabled` that IsEnabled reads without a lock.
constexpr uint32_t kInfoBit = 1, kWarningBit = 2, kErrorBit = 4;

std::atomic<uint32_t> g_enabled{kInfoBit | kWarningBit | kErrorBit};
std::atomic<int> g_verbose{0};

// What waits to be written takes at most about so many bytes, for each of the two places.
constexpr size_t kMostWaitingBytes = 16 << 20;
// What a line costs besides its text.
constexpr size_t kLineCost = 64;

LineCounts g_lines;

std::string MissingLine(uint64_t lines);

// The threads that write, and their lines: one for both streams of the console if these are the
// same file, so that the order of lines stays. Thread-safe.
class Writers {
 public:
  explicit Writers(const Output& file) { Start(file, &out_); }
  Writers(const Output& out, const Output& err) {
    Start(out, &out_);
    if (!out.IsSameFile(err)) Start(err, &err_);
  }

  void Add(bool urgent, std::string line) noexcept {
    const size_t cost = line.size() + kLineCost;
    (urgent && err_.has_value() ? err_ : out_)->Add(std::move(line), cost, urgent);
  }
  // REQUIRES: made for a file.
  void Use(const Output& file) { out_->Use(file); }
  void Flush(TimePoint until) {
    out_->Flush(until);
    if (err_.has_value()) err_->Flush(until);
  }

 private:
  using Writer = LineWriter<std::string>;

  static void Start(const Output& output, std::optional<Writer>* writer) {
    Writer::Options options;
    options.thread_name = "log";
    options.most = kMostWaitingBytes;
    options.format = [](const std::string& line, std::string* text) { text->append(line); };
    options.missing = &MissingLine;
    writer->emplace(std::move(options), output, &g_lines);
  }

  std::optional<Writer> out_;
  std::optional<Writer> err_;
};

struct State {
  // Held while settings, or who writes, change; then `mu`, for the moment of the change.
  Mutex change_mu;
  int holders ABSL_GUARDED_BY(change_mu) = 0;  // objects of BackgroundLog
  Mutex mu;
  LogSettings settings ABSL_GUARDED_BY(mu);
  uint64_t process ABSL_GUARDED_BY(mu) = 0;  // counts the generations of forked children
  Output out ABSL_GUARDED_BY(mu) = Output::Borrow(STDOUT_FILENO);
  Output err ABSL_GUARDED_BY(mu) = Output::Borrow(STDERR_FILENO);
  std::optional<Output> file ABSL_GUARDED_BY(mu);        // none: the console
  std::shared_ptr<Writers> writers ABSL_GUARDED_BY(mu);  // null: whoever logs writes
  bool failing ABSL_GUARDED_BY(mu) = false;  // the last line without `writers` was not written
};
State& GlobalState();

// A child has no threads of its parent, and nobody who could unlock the parent's mutexes.
void BeforeFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  GlobalState().change_mu.Lock();
  GlobalState().mu.Lock();
}
void InParent() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  GlobalState().mu.Unlock();
  GlobalState().change_mu.Unlock();
}
void InChild() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  State& state = GlobalState();
  // Never destroyed: that would wait for threads that do not exist.
  alignas(std::shared_ptr<Writers>) static unsigned char of_parent[sizeof(state.writers)];
  new (of_parent) std::shared_ptr<Writers>(std::move(state.writers));
  g_lines.waiting.store(0);
  state.holders = 0;
  ++state.process;
  InParent();
}

State& GlobalState() {
  static State* const state = [] {
    auto* const made = new State;
    pthread_atfork(&BeforeFork, &InParent, &InChild);
    // Programs that embed the server may end without deleting it.
    atexit(&Log::Flush);
    return made;
  }();
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
    json.Add(key, value);
  };
  add("time", JsonTime());
  add("level", LevelName(level));
  add("file", BaseName(file));
  json.Add("line", line);
  json.Add("message", message);
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

// None for no file. INTERNAL if it cannot be opened.
absl::StatusOr<std::optional<Output>> OpenLog(const std::string& file) {
  if (file.empty()) return std::nullopt;
  Output opened = Output::Append(file);
  if (opened.ok()) return opened;
  return absl::InternalError(
      absl::StrCat("failed to open log file '", file, "' for appending: ", strerror(errno)));
}

// Those for `file`, or for the console.
std::shared_ptr<Writers> StartWriters(const std::optional<Output>& file) {
  if (file.has_value()) return std::make_shared<Writers>(*file);
  return std::make_shared<Writers>(Output::Borrow(STDOUT_FILENO), Output::Borrow(STDERR_FILENO));
}

// Sends lines to `file` from now on. Opens and waits for nothing while loggers are locked out.
absl::Status SwitchTo(std::optional<Output> file, State* state)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->change_mu) {
  bool both_files = false;
  {
    MutexLock lock(&state->mu);
    both_files = file.has_value() && state->file.has_value();
  }
  std::shared_ptr<Writers> writers;
  if (!both_files && state->holders > 0) {
    try {
      writers = StartWriters(file);
    } catch (...) {
      return CaughtStatus();
    }
  }
  MutexLock lock(&state->mu);
  if (both_files && state->writers != nullptr) state->writers->Use(*file);
  if (writers != nullptr) state->writers.swap(writers);
  state->file = std::move(file);
  state->failing = false;
  return absl::OkStatus();
}

// Applies `settings`.
absl::Status ApplySettings(const LogSettings& settings, State* state)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->change_mu) {
  if (settings.file != Log::Settings().file) {
    absl::StatusOr<std::optional<Output>> file = OpenLog(settings.file);
    if (!file.ok()) return file.status();
    if (absl::Status switched = SwitchTo(*std::move(file), state); !switched.ok()) return switched;
  }
  MutexLock lock(&state->mu);
  state->settings = settings;
  g_enabled.store((settings.info ? kInfoBit : 0) | (settings.warning ? kWarningBit : 0) |
                  (settings.error ? kErrorBit : 0));
  g_verbose.store(settings.verbose_level);
  return absl::OkStatus();
}

// Queues `text`, which has no line feed at its end, or writes it.
void Put(bool urgent, std::string text, State* state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->mu) {
  if (state->writers != nullptr) {
    state->writers->Add(urgent, std::move(text));
    return;
  }
  text += '\n';
  Output& output = state->file.has_value() ? *state->file : urgent ? state->err : state->out;
  // A reader who has not read for that long is not waited for a second time.
  const TimePoint until = Clock::Real()->Now() + Log::kFlushPatience;
  const bool patient = !state->failing;
  state->failing = !output.Write(text, [&] { return patient && Clock::Real()->Now() < until; });
  if (state->failing) g_lines.dropped.fetch_add(1, std::memory_order_relaxed);
}

std::string MissingLine(uint64_t lines) {
  const LogSettings settings = Log::Settings();
  const std::string message =
      absl::StrCat(lines, lines == 1 ? " line is" : " lines are",
                   " missing here: the log came faster than it was read or written");
  return settings.format == LogFormat::kJson
             ? JsonLine(LogLevel::kWarning, __FILE__, __LINE__, message, nullptr)
             : TextLine(settings, LogLevel::kWarning, __FILE__, __LINE__, message, nullptr);
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
  MutexLock lock(&state.change_mu);
  return ApplySettings(settings, &state);
}

absl::Status Log::Change(absl::FunctionRef<void(LogSettings*)> change) {
  State& state = GlobalState();
  MutexLock lock(&state.change_mu);
  LogSettings settings = Settings();
  change(&settings);
  return ApplySettings(settings, &state);
}

absl::Status Log::Reopen() {
  State& state = GlobalState();
  MutexLock lock(&state.change_mu);
  const std::string name = Settings().file;
  if (name.empty()) return absl::OkStatus();
  absl::StatusOr<std::optional<Output>> file = OpenLog(name);
  if (!file.ok()) return file.status();
  return SwitchTo(*std::move(file), &state);
}

void Log::Write(LogLevel level, const char* file, int line, absl::string_view message,
                const LogAbout* about) noexcept try {
  const bool urgent = level == LogLevel::kWarning || level == LogLevel::kError;
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  Put(urgent,
      state.settings.format == LogFormat::kJson
          ? JsonLine(level, file, line, message, about)
          : TextLine(state.settings, level, file, line, message, about),
      &state);
  AddToTail(level, absl::StrCat(BaseName(file), ":", line), message, about);
} catch (const std::bad_alloc&) {
  g_lines.dropped.fetch_add(1, std::memory_order_relaxed);
}

void Log::WriteBlock(absl::string_view text) {
  if (!IsEnabled(LogLevel::kInfo)) return;
  State& state = GlobalState();
  MutexLock lock(&state.mu);
  Put(/*urgent=*/false,
      state.settings.format == LogFormat::kJson ? JsonLine(LogLevel::kInfo, "", 0, text, nullptr)
                                                : std::string(absl::StripSuffix(text, "\n")),
      &state);
  AddToTail(LogLevel::kInfo, "", text, nullptr);
}

void Log::Flush() {
  std::shared_ptr<Writers> writers;
  {
    State& state = GlobalState();
    MutexLock lock(&state.mu);
    writers = state.writers;
  }
  if (writers != nullptr) writers->Flush(Clock::Real()->Now() + kFlushPatience);
}

uint64_t Log::dropped() { return g_lines.dropped.load(std::memory_order_relaxed); }

// ---- Who writes.

namespace {

// Adds a holder. Returns which process this is.
uint64_t Hold() {
  State& state = GlobalState();
  MutexLock lock(&state.change_mu);
  std::optional<Output> file;
  {
    MutexLock inner(&state.mu);
    file = state.file;
  }
  std::shared_ptr<Writers> writers;
  if (state.holders == 0) writers = StartWriters(file);
  ++state.holders;
  MutexLock inner(&state.mu);
  if (writers != nullptr) state.writers = std::move(writers);
  return state.process;
}

}  // namespace

BackgroundLog::BackgroundLog() : process_(Hold()) {}

BackgroundLog::~BackgroundLog() {
  State& state = GlobalState();
  MutexLock lock(&state.change_mu);
  std::shared_ptr<Writers> writers;
  {
    MutexLock inner(&state.mu);
    if (state.process != process_) return;
    if (--state.holders > 0) return;
    writers = state.writers;
  }
  // While the others may still add lines, so that the order stays.
  writers->Flush(Clock::Real()->Now() + Log::kFlushPatience);
  MutexLock inner(&state.mu);
  state.writers = nullptr;
}

bool LogRate::Take(TimePoint now, uint64_t* suppressed) {
  const int64_t period_ns = period_.count();
  const auto now_ns = static_cast<int64_t>(ToNanos(now));
  int64_t used = used_until_.load(std::memory_order_relaxed);
  do {
    if (used - now_ns > (burst_ - 1) * period_ns) {
      suppressed_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  } while (!used_until_.compare_exchange_weak(used, std::max(used, now_ns) + period_ns,
                                              std::memory_order_relaxed));
  *suppressed = suppressed_.exchange(0, std::memory_order_relaxed);
  return true;
}

namespace log_internal {

void AwaitLines() {
  constexpr int kLooks = 100;
  const timespec pause = {0, 2'000'000};
  for (int i = 0; i < kLooks && g_lines.waiting.load(std::memory_order_relaxed) > 0; ++i) {
    nanosleep(&pause, nullptr);
  }
}

Line::~Line() {
  try {
    if (suppressed_ > 0) stream_ << " (" << suppressed_ << " similar lines were suppressed)";
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
