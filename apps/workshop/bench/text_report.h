// SPDX-License-Identifier: Apache-2.0
// The result for a terminal. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_TEXT_REPORT_H_
#define NEREID_APPS_WORKSHOP_BENCH_TEXT_REPORT_H_

#include <string>
#include <vector>

#include "bench/bench_options.h"
#include "bench/row_result.h"

namespace nereid::bench {

// "digits at http://127.0.0.1:8000 over HTTP, batch size 1, ..."
std::string LoadText(const BenchOptions& options);

// Tables of the rows, and sentences about what is not as it should be.
std::string TextReport(const BenchOptions& options, const std::vector<RowResult>& rows);

// The name of a row: "16", "500/s", "trace".
std::string RowName(const RowResult& row);
// The same with what it counts: "concurrency 16", "rate 500/s", "load trace".
std::string LoadName(const RowResult& row);
// What the reader of a row has to know to trust it, or not; sentences, each with the row's name.
std::vector<std::string> Remarks(const BenchOptions& options, const RowResult& row);

// Columns as wide as their widest cell, aligned to the right. Cells have only characters of one
// column, of which µ has two bytes. REQUIRES: there is a line, and all are equally long.
using Cells = std::vector<std::string>;
std::string Table(const std::vector<Cells>& lines);

// Microseconds as "12.3 µs", "1.23 ms" or "1.23 s".
std::string TimeText(double microseconds);
// Three or more digits: "0.123", "12.3", "12345".
std::string NumberText(double number);

// What stands for a run while it lasts, on one line.
std::string LiveText(const RowResult& row);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_TEXT_REPORT_H_
