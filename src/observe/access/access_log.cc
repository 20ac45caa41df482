#include "observe/access/access_log.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/json_writer.h"
#include "base/log.h"

namespace nereid {
namespace {

constexpr char kStandardOutput[] = "-";
// Lines are written together, up to about so many bytes.
constexpr size_t kWriteBytes = 64 << 10;

absl::StatusOr<int> OpenFile(const std::string& file) {
  const int fd = file == kStandardOutput
                     ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                     : open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd >= 0) return fd;
  return absl::InternalError(
      absl::StrCat("failed to open access log '", file, "' for appending: ", strerror(errno)));
}

// False if some of the bytes cannot be written.
bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void Cut(std::string* text) {
  if (text->size() <= AccessLog::kLongestText) return;
  text->resize(AccessLog::kLongestText);
  text->shrink_to_fit();
}

std::string TimeText(uint64_t wall_ms) {
  const auto seconds = static_cast<time_t>(wall_ms / 1000);
  tm t;
  gmtime_r(&seconds, &t);
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1,
                         t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, wall_ms % 1000);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AccessLog>> AccessLog::Open(const Options& options,
                                                           const Clock* clock) {
  const absl::StatusOr<int> fd = OpenFile(options.file);
  if (!fd.ok()) return fd.status();
  return std::unique_ptr<AccessLog>(new AccessLog(options, clock, *fd));
}

AccessLog::AccessLog(const Options& options, const Clock* clock, int fd)
    : file_(options.file),
      sample_(options.sample),
      queue_limit_(options.queue_limit),
      clock_(clock),
      fd_(fd),
      thread_([this] { Run(); }) {
  pthread_setname_np(thread_.native_handle(), "access log");
}

AccessLog::~AccessLog() {
  {
    MutexLock lock(&mu_);
    ending_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  close(fd_);
}

void AccessLog::Write(AccessEntry entry) noexcept try {
  // So that a full queue has a limited size.
  for (std::string* const text : {&entry.method, &entry.path, &entry.model, &entry.request_id}) {
    Cut(text);
  }
  Ended ended = {std::move(entry), clock_->Now(), clock_->WallMillis()};
  MutexLock lock(&mu_);
  if (queue_.size() >= queue_limit_) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  queue_.push_back(std::move(ended));
  if (queue_.size() == 1) changed_.NotifyAll();
} catch (const std::bad_alloc&) {
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

void AccessLog::Reopen() {
  MutexLock lock(&mu_);
  reopen_ = true;
  changed_.NotifyAll();
}

void AccessLog::Run() {
  std::vector<Ended> ended;
  while (true) {
    bool reopen = false;
    {
      MutexLock lock(&mu_);
      while (queue_.empty() && !reopen_ && !ending_) changed_.Wait(&mu_);
      if (queue_.empty() && !reopen_) return;
      ended.swap(queue_);
      reopen = std::exchange(reopen_, false);
    }
    // What ended before belongs to the old file.
    WriteLines(ended);
    ended.clear();
    if (reopen) OpenAgain();
  }
}

void AccessLog::OpenAgain() {
  const absl::StatusOr<int> fd = OpenFile(file_);
  if (!fd.ok()) {
    LOG_ERROR << fd.status().message();
    return;
  }
  close(fd_);
  fd_ = *fd;
}

void AccessLog::WriteLines(const std::vector<Ended>& ended) try {
  std::string text;
  uint64_t lines = 0;
  const auto flush = [&] {
    if (!WriteAll(fd_, text)) dropped_.fetch_add(lines, std::memory_order_relaxed);
    text.clear();
    lines = 0;
  };
  for (const Ended& one : ended) {
    absl::StrAppend(&text, Line(one), "\n");
    ++lines;
    if (text.size() >= kWriteBytes) flush();
  }
  flush();
} catch (const std::bad_alloc&) {
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

std::string AccessLog::Line(const Ended& ended) {
  const AccessEntry& entry = ended.entry;
  std::string line;
  JsonWriter json(&line);
  json.BeginObject();
  const auto text = [&json](const char* key, absl::string_view value) {
    if (value.empty()) return;
    json.Key(key);
    json.String(value);
  };
  const auto number = [&json](const char* key, uint64_t value) {
    json.Key(key);
    json.Uint(value);
  };
  text("time", TimeText(ended.wall_ms));
  text("peer", entry.peer);
  text("protocol", entry.protocol);
  text("method", entry.method);
  text("path", entry.path);
  text("status", entry.status);
  text("model", entry.model);
  text("request_id", entry.request_id);
  number("bytes_in", entry.bytes_in);
  number("bytes_out", entry.bytes_out);
  const Duration took = ended.end - entry.start;
  number("duration_us", static_cast<uint64_t>(std::max<int64_t>(0, took.count())) / 1000);
  json.EndObject();
  return line;
}

}  // namespace nereid
