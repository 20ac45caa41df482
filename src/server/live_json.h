// SPDX-License-Identifier: Apache-2.0
// What a server does at present, and its log, as the JSON of /v2/nereid/live and /v2/nereid/log
// (docs/operate/recording.md). Pure functions, apart from what models report of themselves.
#ifndef NEREID_SERVER_LIVE_JSON_H_
#define NEREID_SERVER_LIVE_JSON_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log_tail.h"
#include "device/nvml.h"
#include "observe/stats/model_statistics.h"
#include "server/recordings.h"
#include "server/reports.h"

namespace nereid {

class ManagedModel;

// What an answer about the present shows at most.
inline constexpr size_t kMostLiveModels = 200;

// A GPU in use.
struct LiveGpu {
  int id = 0;
  std::string name, uuid;
  uint64_t memory_bytes = 0;
  uint64_t pool_bytes = 0, pool_used_bytes = 0;
  uint64_t instances = 0;             // of models, passive ones too
  absl::Status failure;               // OK unless the GPU has failed
  std::optional<GpuReading> reading;  // none: it is not measured
};

struct LiveServer {
  std::string id, version;
  uint64_t uptime_ns = 0;
  uint64_t requests = 0, most_requests = 0;  // open, and their limit; a limit of 0: none
  uint64_t bytes = 0, most_bytes = 0;        // in flight
  std::vector<LiveGpu> gpus;                 // in use
};

// A version of a model, and what serves it; null: nothing does.
struct LiveModel {
  IndexEntry entry;
  std::shared_ptr<ManagedModel> model;
  std::optional<uint64_t> memory_bytes = {};  // footprint of the model; none: it is not measured
};

// A version with its numbers, which are read once.
struct CountedModel {
  LiveModel live;
  StatisticsSnapshot statistics;  // all zero if nothing serves
};

// Drops all but the `most` that have executed last, and puts these in the order of their names.
void KeepLatest(size_t most, std::vector<CountedModel>* models);

// Shows at most kMostLiveModels: those that have executed last; the rest is counted.
std::string LiveJsonOf(const LiveServer& server, std::vector<LiveModel> models, TimePoint now,
                       RecordClock clock);
std::string LogJsonOf(const LogTail::Lines& read, RecordClock clock);

}  // namespace nereid

#endif  // NEREID_SERVER_LIVE_JSON_H_
