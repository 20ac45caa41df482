// SPDX-License-Identifier: Apache-2.0
// LiveHistory: what a server and its models had counted at moments of the last minutes, for plots
// that are full when somebody opens them. Thread-safe.
#ifndef NEREID_SERVER_LIVE_HISTORY_H_
#define NEREID_SERVER_LIVE_HISTORY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "server/live_json.h"
#include "server/recent_work.h"

namespace nereid {

// Counters of requests at a moment, and those that are in the server then.
struct LiveCounts {
  uint64_t succeeded = 0, failed = 0, in_flight = 0;
  int64_t queued = 0;
};

// A version of a model that served at that moment.
struct ModelSample {
  std::string name;
  int64_t version = 0;
  LiveCounts counts;
  uint64_t instances = 0, busy_ns = 0;
  uint64_t batches = 0, units = 0;  // executions, and elements in them, without fillers
  std::optional<Percentiles>
      latency;  // of the requests of RecentWork::kWindowNs; if there were any
};

struct LiveSample {
  RecordClock clock;
  LiveCounts server;  // of all models, also of those that are not in `models`
  std::vector<ModelSample> models;
};

// Of a server's versions as for LiveJsonOf: of those that serve, the LiveHistory::kMostModels that
// have executed last, in the order of their names.
LiveSample LiveSampleOf(const LiveServer& server, std::vector<LiveModel> models, TimePoint now,
                        RecordClock clock);

class LiveHistory {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(1);  // how often Add is called
  static constexpr size_t kMostSamples = 300;
  static constexpr size_t kMostModels = 64;  // of each sample

  LiveHistory() = default;
  LiveHistory(const LiveHistory&) = delete;
  LiveHistory& operator=(const LiveHistory&) = delete;

  // Forgets the oldest sample when there are kMostSamples.
  void Add(LiveSample sample) ABSL_LOCKS_EXCLUDED(mu_);
  // The samples, oldest first; `started_ns` tells which server has counted.
  std::string Json(uint64_t started_ns) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable Mutex mu_;
  std::deque<LiveSample> samples_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_SERVER_LIVE_HISTORY_H_
