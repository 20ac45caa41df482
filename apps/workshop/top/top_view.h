// SPDX-License-Identifier: Apache-2.0
// TopView: what `nereid top` shows, made from two answers of a server. Plain values; the functions
// are pure.
#ifndef NEREID_APPS_WORKSHOP_TOP_TOP_VIEW_H_
#define NEREID_APPS_WORKSHOP_TOP_TOP_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "top/live_answer.h"

namespace nereid {

// Empty numbers are not known: there was no request, or there is no earlier answer of the same
// server and model.
struct TopRow {
  std::string model, version, state;
  std::string because;  // why most batches left the queue; of a model that does not serve: why
  bool serves = false;
  uint64_t memory_bytes = 0;  // footprint; 0: not measured
  int64_t queued = 0, in_flight = 0;
  std::optional<double> requests_per_s, failures_per_s;  // requests: with those that failed
  std::optional<double> batch_size;                      // mean
  std::optional<double> busy;                            // share of the instances' time
  std::optional<uint64_t> queue_p50, queue_p99, compute_p50, compute_p99;  // nanoseconds
};

struct TopView {
  std::string server;  // name and version
  uint64_t uptime_ns = 0, in_flight = 0, not_shown = 0;
  int64_t queued = 0;
  std::optional<double> requests_per_s, failures_per_s;
  bool restarted = false;  // since the earlier answer
  std::vector<LiveGpuAnswer> gpus;
  std::vector<TopRow> rows;
};

// `before`: an earlier answer of the same port; null: none. If the server, or a model, has been
// started anew since, its rates are not known.
TopView MakeTopView(const LiveAnswer* before, const LiveAnswer& now);

enum class TopSort { kModel, kRequests, kFailures, kQueued, kBusy, kQueueTime, kComputeTime };
// By model and version, or with the highest number first.
void SortRows(TopSort by, std::vector<TopRow>* rows);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TOP_TOP_VIEW_H_
