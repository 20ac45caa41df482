// AccessLog: a line for each request, or for a sample of them, in a file of its own. Thread-safe.
//
// Lines are written by a thread of the log from a queue of limited length. Whoever logs never waits
// for a disk or for a reader: what finds no place in the queue is dropped and counted.
#ifndef NEREID_OBSERVE_ACCESS_ACCESS_LOG_H_
#define NEREID_OBSERVE_ACCESS_ACCESS_LOG_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/export.h"
#include "base/mutex.h"

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
  // Writes what waits.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // Whether the caller's request is one of those that are logged.
  bool Takes() {
    return sample_ == 1 || seen_.fetch_add(1, std::memory_order_relaxed) % sample_ == 0;
  }
  // The request has ended now. Never blocks. The entry is lost if there is no memory for it.
  void Write(AccessEntry entry) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the thread open the file again by its name, which may have been renamed. If that fails,
  // lines still go to where they went.
  void Reopen() ABSL_LOCKS_EXCLUDED(mu_);
  // Entries for which there was no place.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Ended {
    AccessEntry entry;
    TimePoint end;
    uint64_t wall_ms;  // since the Unix epoch
  };

  AccessLog(const Options& options, const Clock* clock, int fd);
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Used by the thread.
  void OpenAgain();
  void WriteLines(const std::vector<Ended>& ended);
  static std::string Line(const Ended& ended);

  const std::string file_;
  const uint64_t sample_;
  const size_t queue_limit_;
  const Clock* const clock_;
  int fd_;  // the thread's
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> dropped_{0};
  Mutex mu_;
  CondVar changed_;
  std::vector<Ended> queue_ ABSL_GUARDED_BY(mu_);
  bool reopen_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_ACCESS_ACCESS_LOG_H_
