// SPDX-License-Identifier: Apache-2.0
// Measures one row of the result. Blocks for as long as the options say; used by one thread.
#ifndef NEREID_APPS_WORKSHOP_BENCH_ROW_RUN_H_
#define NEREID_APPS_WORKSHOP_BENCH_ROW_RUN_H_

#include <functional>

#include "bench/load_plan.h"
#include "bench/row_result.h"

namespace nereid::bench {

// The load of one row.
struct RowLoad {
  int concurrency = 0;  // 0: open loop
  double rate = 0;      // of an open loop; 0: the plan's trace
};

// All rows that the options ask for.
std::vector<RowLoad> RowsOf(const BenchOptions& options);

// `interrupted`, asked often: whether the user wants to end; `progress` is called every some tenths
// of a second with what there is so far. What went wrong is in the result, too.
RowResult MeasureRow(const LoadPlan& plan, const RowLoad& load,
                     const std::function<bool()>& interrupted,
                     const std::function<void(const RowResult&)>& progress);

// What a model did between two counts, per request; none if it did nothing.
std::optional<ServerTimes> TimesBetween(const ModelCounts& before, const ModelCounts& after);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_ROW_RUN_H_
