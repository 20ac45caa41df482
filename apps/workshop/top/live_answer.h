// SPDX-License-Identifier: Apache-2.0
// The answer of /v2/nereid/live as a value. Plain values; the function is pure.
#ifndef NEREID_APPS_WORKSHOP_TOP_LIVE_ANSWER_H_
#define NEREID_APPS_WORKSHOP_TOP_LIVE_ANSWER_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nereid {

using Counts = std::map<std::string, uint64_t>;

struct LiveModelAnswer {
  std::string name, version, state, reason;
  uint64_t memory_bytes = 0;  // 0: not measured
  bool serves = false;        // what follows is known
  int64_t queued = 0, in_flight = 0;
  uint64_t instances = 0, busy_ns = 0, succeeded = 0;
  Counts failed;       // by reason
  Counts batch_sizes;  // executions by size
  // Of the last seconds.
  Counts reasons;                           // executions by reason
  std::map<std::string, Counts> phases_ns;  // "p50", "p99" by phase
};

struct LiveGpuAnswer {
  int64_t id = 0;
  uint64_t memory_bytes = 0;
  double utilization = -1;         // 0 to 1; negative: not measured
  uint64_t memory_used_bytes = 0;  // known if the utilization is
  bool failed = false;
};

struct LiveServerAnswer {
  std::string name, version;
  uint64_t uptime_ns = 0, in_flight = 0, succeeded = 0, failed = 0;
  int64_t queued = 0;
  std::vector<LiveGpuAnswer> gpus;  // that the server uses
};

struct LiveAnswer {
  uint64_t now_ns = 0, not_shown = 0;
  LiveServerAnswer server;
  std::vector<LiveModelAnswer> models;
};

// INVALID_ARGUMENT if `json` is no such answer.
absl::StatusOr<LiveAnswer> ReadLive(absl::string_view json);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TOP_LIVE_ANSWER_H_
