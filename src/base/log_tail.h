// SPDX-License-Identifier: Apache-2.0
// LogTail: the last lines of the log, in a bounded amount of memory, for readers that cannot see
// where the log goes. Thread-safe; a reader holds up a writer for one copy of the memory at most,
// and no writer ever waits for output.
#ifndef NEREID_BASE_LOG_TAIL_H_
#define NEREID_BASE_LOG_TAIL_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

// One line, or one block of lines.
struct LogLine {
  uint64_t number = 0;     // counts the lines of the process, from 1
  uint64_t unix_us = 0;    // microseconds since the Unix epoch
  const char* level = "";  // "INFO", "WARNING", "ERROR", "VERBOSE"; lives as long as the program
  std::string place;       // "file.cc:12"; empty for a block
  std::string message;     // unescaped
  std::string request_id;  // empty: about no request, or about one without an id
  std::string model;       // empty: about none
};

class NEREID_API LogTail {
 public:
  static constexpr size_t kMostLines = 1000;
  static constexpr size_t kMostBytes = 256 << 10;
  // Longer texts of a line are cut, and then end in three dots.
  static constexpr size_t kMostMessage = 8 << 10;
  static constexpr size_t kMostName = 256;

  LogTail() = default;
  LogTail(const LogTail&) = delete;
  LogTail& operator=(const LogTail&) = delete;

  // That of the process-wide log, which fills it. Never destroyed.
  static LogTail* Global();

  // Adds a line, whose number this function gives, and drops the oldest ones beyond the bounds.
  // Throws std::bad_alloc.
  void Add(LogLine line) ABSL_LOCKS_EXCLUDED(mu_);

  struct Lines {
    std::vector<LogLine> lines;  // oldest first
    uint64_t dropped = 0;        // lines that were asked for, but are not kept any more
  };
  // With `since`: the first `limit` lines with higher numbers; without: the last `limit` lines.
  Lines Read(std::optional<uint64_t> since, size_t limit) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable Mutex mu_;
  std::deque<LogLine> lines_ ABSL_GUARDED_BY(mu_);  // numbers without a gap
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;           // of `lines_`
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_BASE_LOG_TAIL_H_
