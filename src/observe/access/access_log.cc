// SPDX-License-Identifier: Apache-2.0
#include "observe/access/access_log.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
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
absl::StatusOr<Output> OpenFile(const std::string& file) {
  Output opened = file == kStandardOutput ? Output::Duplicate(STDOUT_FILENO) : Output::Append(file);
  if (opened.ok()) return opened;
  return absl::InternalError(
      absl::StrCat("failed to open access log '", file, "' for appending: ", strerror(errno)));
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
  absl::StatusOr<Output> output = OpenFile(options.file);
  if (!output.ok()) return output.status();
  return std::unique_ptr<AccessLog>(new AccessLog(options, clock, *std::move(output)));
}

AccessLog::AccessLog(const Options& options, const Clock* clock, Output output)
    : file_(options.file),
      sample_(options.sample),
      clock_(clock),
      writer_({"access log", options.queue_limit,
               [](const Ended& ended, std::string* text) { text->append(Line(ended)); }, nullptr},
              std::move(output), &lines_) {}

void AccessLog::Write(AccessEntry entry) noexcept try {
  // So that a full queue has a limited size.
  for (std::string* const text : {&entry.method, &entry.path, &entry.model, &entry.request_id}) {
    Cut(text);
  }
  writer_.Add({std::move(entry), clock_->Now(), clock_->WallMillis()}, /*cost=*/1);
} catch (const std::bad_alloc&) {
  lines_.dropped.fetch_add(1, std::memory_order_relaxed);
}

void AccessLog::Reopen() {
  absl::StatusOr<Output> output = OpenFile(file_);
  if (!output.ok()) {
    LOG_ERROR << output.status().message();
    return;
  }
  writer_.Use(*std::move(output));
}

std::string AccessLog::Line(const Ended& ended) {
  const AccessEntry& entry = ended.entry;
  std::string line;
  JsonWriter json(&line);
  json.BeginObject();
  const auto text = [&json](const char* key, absl::string_view value) {
    if (value.empty()) return;
    json.Add(key, value);
  };
  const auto number = [&json](const char* key, uint64_t value) { json.Add(key, value); };
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
