// SPDX-License-Identifier: Apache-2.0
// AccessLog: a line for each request, or for a sample of them, in a file of its own. Thread-safe.
//
// Lines are made and written by the thread of a LineWriter. Whoever logs never waits for a disk or
// for a reader: what finds no place in its queue is dropped and counted.
#ifndef NEREID_OBSERVE_ACCESS_ACCESS_LOG_H_
#define NEREID_OBSERVE_ACCESS_ACCESS_LOG_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/export.h"
#include "base/line_writer.h"

namespace nereid {

// One answered request. A plain value.
struct AccessEntry {
  const char* protocol = "";  // lives as long as the program
  std::string peer;           // address and port of the client
  std::string method;         // of HTTP; empty for gRPC
  std::string path;           // of HTTP, or the RPC
  std::string status;         // of HTTP, or the name of the code of gRPC
  std::string model;          // empty: the request names none
  std::string request_id;     // empty: it has none
  uint64_t bytes_in = 0;      // of bodies and messages, without heads
  uint64_t bytes_out = 0;
  TimePoint start;  // when the request was there, or its head
};

class NEREID_API AccessLog {
 public:
  static constexpr size_t kQueueLimit = 8 << 10;
  // Longer texts that clients choose are cut.
  static constexpr size_t kLongestText = 1024;

  struct Options {
    std::string file;     // appended to; "-": the standard output
    uint64_t sample = 1;  // every so many requests one is logged; at least 1
    size_t queue_limit = kQueueLimit;
  };

  // `clock` outlives the log. INTERNAL if the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<AccessLog>> Open(const Options& options,
                                                         const Clock* clock);
  // Writes what waits, but does not wait for a reader for longer than LineWriter does.
  ~AccessLog() = default;
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // Whether the caller's request is one of those that are logged.
  bool Takes() {
    return sample_ == 1 || seen_.fetch_add(1, std::memory_order_relaxed) % sample_ == 0;
  }
  // The request has ended now. Never blocks. The entry is lost if there is no memory for it.
  void Write(AccessEntry entry) noexcept;
  // Opens the file again by its name, which may have been renamed, and logs it if that fails: lines
  // then still go to where they went.
  void Reopen();
  // Entries for which there was no place, and lines that could not be written.
  uint64_t dropped() const { return lines_.dropped.load(std::memory_order_relaxed); }

 private:
  struct Ended {
    AccessEntry entry;
    TimePoint end;
    uint64_t wall_ms;  // since the Unix epoch
  };

  AccessLog(const Options& options, const Clock* clock, Output output);
  static std::string Line(const Ended& ended);

  const std::string file_;
  const uint64_t sample_;
  const Clock* const clock_;
  std::atomic<uint64_t> seen_{0};
  LineCounts lines_;
  LineWriter<Ended> writer_;
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_ACCESS_ACCESS_LOG_H_
