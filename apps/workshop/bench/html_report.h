// SPDX-License-Identifier: Apache-2.0
// The result as a page. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_HTML_REPORT_H_
#define NEREID_APPS_WORKSHOP_BENCH_HTML_REPORT_H_

#include <string>
#include <vector>

#include "bench/bench_options.h"
#include "bench/row_result.h"

namespace nereid::bench {

// A whole page that needs nothing else: tables, and plots of the latencies, of how they went over
// time, and of latency against throughput. Texts of servers are escaped.
std::string HtmlReport(const BenchOptions& options, const std::vector<RowResult>& rows);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_HTML_REPORT_H_
