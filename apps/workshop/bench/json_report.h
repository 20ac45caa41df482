// SPDX-License-Identifier: Apache-2.0
// The result for programs. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_JSON_REPORT_H_
#define NEREID_APPS_WORKSHOP_BENCH_JSON_REPORT_H_

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "bench/bench_options.h"
#include "bench/row_result.h"

namespace nereid::bench {

// One JSON object on one line; docs/operate/bench.md names its members.
std::string JsonReport(const BenchOptions& options, const std::vector<RowResult>& rows);

// The parts of it: a member with the times in microseconds, and the object of a row.
void WriteLatency(const char* name, const Histogram& histogram, JsonWriter* json);
void WriteRow(const RowResult& row, JsonWriter* json);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_JSON_REPORT_H_
