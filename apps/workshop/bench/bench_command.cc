// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_command.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "base/status_macros.h"
#include "bench/bench_options.h"
#include "bench/html_report.h"
#include "bench/json_report.h"
#include "bench/live_line.h"
#include "bench/load_plan.h"
#include "bench/measuring_process.h"
#include "bench/row_run.h"
#include "bench/text_report.h"
#include "options/parse.h"

namespace nereid {
namespace {

using bench::BenchOptions;
using bench::RowResult;

constexpr int kGood = 0;
constexpr int kFailed = 1;
constexpr int kWrong = 2;

std::vector<RowResult> Measure(const bench::LoadPlan& plan, std::ostream& err) {
  bench::LiveLine line(err);
  std::vector<RowResult> rows;
  for (const bench::RowLoad& load : bench::RowsOf(plan.options())) {
    if (bench::Interrupted()) break;
    line.Show("connecting");
    rows.push_back(bench::MeasureRow(
        plan, load, [] { return bench::Interrupted(); },
        [&](const RowResult& row) { line.Show(bench::LiveText(row)); }));
    // The next row would fare no better without a server.
    if (!rows.back().failure.empty()) break;
  }
  return rows;
}

absl::Status Report(const BenchOptions& options, const std::vector<RowResult>& rows,
                    std::ostream& out) {
  const std::string json = bench::JsonReport(options, rows);
  out << (options.json ? json : bench::TextReport(options, rows)) << std::flush;
  RETURN_IF_ERROR(bench::WriteReport(options.json_file, json));
  return bench::WriteReport(options.html_file,
                            options.html_file.empty() ? "" : bench::HtmlReport(options, rows));
}

int Fail(const absl::Status& status, int exit_status, std::ostream& err) {
  err << "nereid bench: " << status.message() << "\n";
  return exit_status;
}

}  // namespace

int BenchCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<BenchOptions> options = bench::ParseBenchOptions(args);
  if (!options.ok()) return WrongCommandLine("bench", options.status(), err);
  bench::PrepareToMeasure();
  const absl::StatusOr<std::unique_ptr<bench::LoadPlan>> plan = bench::LoadPlan::Make(*options);
  if (!plan.ok()) {
    const bool wrong = absl::IsInvalidArgument(plan.status());
    const absl::Status status =
        wrong ? plan.status()
              : absl::Status(plan.status().code(),
                             absl::StrCat(options->target.Url(), ": ", plan.status().message()));
    return Fail(status, wrong ? kWrong : kFailed, err);
  }
  const std::vector<RowResult> rows = Measure(**plan, err);
  const absl::Status reported = Report(*options, rows, out);
  if (!reported.ok()) return Fail(reported, kFailed, err);
  const bool failed =
      std::all_of(rows.begin(), rows.end(), [](const RowResult& row) { return row.failed(); });
  return failed ? kFailed : kGood;
}

}  // namespace nereid
