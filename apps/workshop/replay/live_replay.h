// SPDX-License-Identifier: Apache-2.0
// A recorded model's requests, sent to a running server at the recorded times.
#ifndef NEREID_APPS_WORKSHOP_REPLAY_LIVE_REPLAY_H_
#define NEREID_APPS_WORKSHOP_REPLAY_LIVE_REPLAY_H_

#include <absl/status/statusor.h>

#include <functional>
#include <vector>

#include "bench/bench_options.h"
#include "bench/load_plan.h"
#include "bench/row_result.h"
#include "frontends/codec/recording.h"

namespace nereid {

struct LiveReplay {
  bench::RowResult now;
  bench::Histogram recorded;  // nanoseconds from a request's arrival until its answer was sent
  size_t requests = 0;        // that fell due
  size_t in_sequences = 0;    // of these
  size_t with_inputs = 0;     // of these, with the recorded inputs
  double speed = 1;
};

// The requests in the order of their arrivals, which are `speed` times closer together than
// recorded. INVALID_ARGUMENT if nothing was recorded.
absl::StatusOr<std::vector<bench::PlannedRequest>> PlanOf(const RecordedModel& model, double speed);

// Sends them. `options`: server, headers and shapes of inputs. Blocks for as long as that takes, or
// until `interrupted`. INVALID_ARGUMENT if an option is to blame; errors of the server.
absl::StatusOr<LiveReplay> ReplayLive(const RecordedModel& model, bench::BenchOptions options,
                                      double speed, const std::function<bool()>& interrupted,
                                      const std::function<void(const bench::RowResult&)>& progress);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_REPLAY_LIVE_REPLAY_H_
