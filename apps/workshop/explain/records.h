// SPDX-License-Identifier: Apache-2.0
// The answers of /v2/nereid as values. Plain values; the functions are pure.
#ifndef NEREID_APPS_WORKSHOP_EXPLAIN_RECORDS_H_
#define NEREID_APPS_WORKSHOP_EXPLAIN_RECORDS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid {

struct ShownExecution {
  std::string instance, reason;
  uint64_t number = 0, requests = 0, units = 0;
  uint64_t start_ns = 0, end_ns = 0;
  bool by_caller = false, failed = false;
  std::vector<std::string> members;
};

struct ShownRequest {
  std::string id, model, version, outcome, sequence;
  uint64_t start_ns = 0, latency_ns = 0;
  std::vector<std::pair<std::string, uint64_t>> phases_ns;  // in order
  std::optional<uint64_t> sequence_slot;
  std::string instance;  // in a timeline, which says so in place of
  uint64_t batch = 0;    // `execution`: its instance and number
  std::optional<ShownExecution> execution;
  std::vector<ShownRequest> steps;
};

struct ShownTimeline {
  std::string model, version;
  bool recording = false;
  size_t instances = 0;
  uint64_t now_ns = 0;                     // on the clock of all times; 0: not told
  std::vector<ShownExecution> executions;  // newest first, like requests
  std::vector<ShownRequest> requests;
};

// INVALID_ARGUMENT if `json` is no such answer.
absl::StatusOr<std::vector<ShownRequest>> ReadRequests(absl::string_view json);
absl::StatusOr<ShownTimeline> ReadTimeline(absl::string_view json);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_EXPLAIN_RECORDS_H_
