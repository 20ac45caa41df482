// SPDX-License-Identifier: Apache-2.0
#include "bench/html_report.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <iterator>

#include "bench/html_page.h"
#include "bench/svg_plot.h"
#include "bench/text_report.h"

namespace nereid::bench {
namespace {

// More lines than this cannot be told apart.
constexpr size_t kMostLines = 6;

double Milliseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

// Latency by percentile; each step to the right is ten times rarer, as far as there are requests.
Plot Percentiles(const std::vector<RowResult>& rows) {
  struct Place {
    const char* name;
    double fraction;
  };
  static constexpr Place kPlaces[] = {{"min", 0},    {"p50", 0.5},     {"p90", 0.9},
                                      {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};
  Plot plot{"Latency by percentile", "", "ms", {}, {}};
  for (const Place& place : kPlaces) plot.x_labels.push_back(place.name);
  for (const RowResult& row : rows) {
    if (row.failed() || plot.lines.size() == kMostLines) continue;
    PlotLine& line = plot.lines.emplace_back();
    line.name = LoadName(row);
    for (size_t i = 0; i < std::size(kPlaces); ++i) {
      // A percentile that no request is above is the largest one again.
      const double rest = 1 - kPlaces[i].fraction;
      if (rest * static_cast<double>(row.latency.count()) < 1) break;
      line.points.push_back(
          {static_cast<double>(i), Milliseconds(row.latency.Percentile(kPlaces[i].fraction)), ""});
    }
  }
  return plot;
}

// Share of requests by latency, up to the 99th percentile of the slowest row.
Plot Distribution(const std::vector<RowResult>& rows) {
  constexpr int kSteps = 120;
  Plot plot{"Requests answered within a time", "ms", "% of requests", {}, {}};
  int64_t most = 0;
  for (const RowResult& row : rows) most = std::max(most, row.latency.Percentile(0.99));
  for (const RowResult& row : rows) {
    if (row.failed() || plot.lines.size() == kMostLines) continue;
    PlotLine& line = plot.lines.emplace_back();
    line.name = LoadName(row);
    for (int i = 0; i <= kSteps; ++i) {
      const int64_t at = most * i / kSteps;
      line.points.push_back({Milliseconds(at), row.latency.ShareUpTo(at) * 100, ""});
    }
  }
  return plot;
}

// The last row over time: `throughput`, or its latencies.
Plot OverTime(const RowResult& row, bool throughput) {
  Plot plot{absl::StrCat(throughput ? "Throughput" : "Latency", " over time (", LoadName(row), ")"),
            "s",
            throughput ? "infer/s" : "ms",
            {},
            {}};
  if (throughput) {
    PlotLine& line = plot.lines.emplace_back(PlotLine{"infer/s", {}});
    for (const Window& window : row.windows) {
      line.points.push_back({window.end_seconds, window.throughput, ""});
    }
    return plot;
  }
  plot.lines = {{"p50", {}}, {"p99", {}}};
  for (const Window& window : row.windows) {
    plot.lines[0].points.push_back({window.end_seconds, window.p50_us * 1e-3, ""});
    plot.lines[1].points.push_back({window.end_seconds, window.p99_us * 1e-3, ""});
  }
  return plot;
}

Plot Tradeoff(const std::vector<RowResult>& rows) {
  Plot plot{"Latency against throughput", "infer/s", "ms", {{"p50", {}}, {"p99", {}}}, {}};
  for (const RowResult& row : rows) {
    if (row.failed()) continue;
    plot.lines[0].points.push_back(
        {row.throughput(), Milliseconds(row.latency.Percentile(0.5)), ""});
    plot.lines[1].points.push_back(
        {row.throughput(), Milliseconds(row.latency.Percentile(0.99)), RowName(row)});
  }
  return plot;
}

}  // namespace

std::string HtmlReport(const BenchOptions& options, const std::vector<RowResult>& rows) {
  std::string page =
      absl::StrCat(HtmlHead("nereid bench"), "<h1>nereid bench: ", HtmlEscaped(options.model),
                   "</h1>\n<pre>", HtmlEscaped(TextReport(options, rows)), "</pre>\n");
  if (rows.size() > 1) absl::StrAppend(&page, HtmlSection(Tradeoff(rows)));
  absl::StrAppend(&page, HtmlSection(Percentiles(rows)), HtmlSection(Distribution(rows)));
  if (!rows.empty()) {
    absl::StrAppend(&page, HtmlSection(OverTime(rows.back(), true)),
                    HtmlSection(OverTime(rows.back(), false)));
  }
  return page + "</body></html>\n";
}

}  // namespace nereid::bench
