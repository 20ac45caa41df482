// SPDX-License-Identifier: Apache-2.0
// What was measured under one load: a row of the result. A plain value.
#ifndef NEREID_APPS_WORKSHOP_BENCH_ROW_RESULT_H_
#define NEREID_APPS_WORKSHOP_BENCH_ROW_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/loadgen/histogram.h"
#include "bench/error_counts.h"

namespace nereid::bench {

// A part of a row, some tenths of a second long.
struct Window {
  double end_seconds = 0;  // since the measurement began
  double throughput = 0;   // successes per second
  double p50_us = 0;
  double p99_us = 0;
};

// What the server counted meanwhile, also for requests of others.
struct ServerTimes {
  double batch_size = 0;  // on average
  // Microseconds per request.
  double queue = 0;
  double compute_input = 0;
  double compute_infer = 0;
  double compute_output = 0;
};

struct RowResult {
  int concurrency = 0;  // 0: open loop
  double rate = 0;      // open loop: wanted per second; 0: as the trace says

  double seconds = 0;  // measured
  Histogram latency;   // nanoseconds, of requests that succeeded
  Histogram first;     // streams: until the first response
  ErrorCounts errors;
  uint64_t unanswered = 0;  // are errors as well
  Histogram lag;      // open loop: nanoseconds from when requests were due until they were sent
  uint64_t late = 0;  // open loop: sent more than kLate after they were due
  std::vector<Window> windows;

  // Half the width of the 95 % confidence intervals, as shares: of throughput, and of one
  // percentile of the latency; infinite where they are not known.
  double throughput_interval = 0;
  double latency_interval = 0;
  double judged_percentile = 0;  // for which enough requests fell into each window
  bool stable = false;           // both are narrow enough
  bool interrupted = false;      // by the user
  std::string failure;           // why the row ended early; empty: it did not

  double client_cpu = 0;  // share of one core
  std::optional<ServerTimes> server;

  double throughput() const {
    return seconds > 0 ? static_cast<double>(latency.count()) / seconds : 0;
  }
  // Nothing succeeded.
  bool failed() const { return latency.count() == 0; }
};

// Later than this is late: microseconds of waiting for the processor are not.
inline constexpr double kLateSeconds = 1e-3;
// From this share of a core on, the client may be what limits the throughput.
inline constexpr double kBusyClient = 0.9;

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_ROW_RESULT_H_
