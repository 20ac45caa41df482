// SPDX-License-Identifier: Apache-2.0
#include "bench/text_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cmath>

namespace nereid::bench {
namespace {

std::string Percentile(const Histogram& histogram, double fraction) {
  if (histogram.count() == 0) return "-";
  return TimeText(static_cast<double>(histogram.Percentile(fraction)) * 1e-3);
}

std::string Mean(const Histogram& histogram) {
  return histogram.count() == 0 ? "-" : TimeText(histogram.mean() * 1e-3);
}

const char* LoadColumn(const RowResult& row) {
  return row.concurrency > 0 ? "concurrency" : row.rate > 0 ? "rate" : "load";
}

std::string LatencyTable(const std::vector<RowResult>& rows) {
  std::vector<Cells> lines = {{LoadColumn(rows[0]), "infer/s", "mean", "p50", "p90", "p95", "p99",
                               "p99.9", "max", "errors", "client CPU"}};
  for (const RowResult& row : rows) {
    const Histogram& latency = row.latency;
    lines.push_back({RowName(row), NumberText(row.throughput()), Mean(latency),
                     Percentile(latency, 0.5), Percentile(latency, 0.9), Percentile(latency, 0.95),
                     Percentile(latency, 0.99), Percentile(latency, 0.999), Percentile(latency, 1),
                     absl::StrCat(row.errors.total()),
                     absl::StrFormat("%.0f %%", row.client_cpu * 100)});
  }
  return Table(lines);
}

std::string FirstResponseTable(const std::vector<RowResult>& rows) {
  std::vector<Cells> lines = {{LoadColumn(rows[0]), "mean", "p50", "p90", "p99", "max"}};
  for (const RowResult& row : rows) {
    if (row.first.count() == 0) continue;
    lines.push_back({RowName(row), Mean(row.first), Percentile(row.first, 0.5),
                     Percentile(row.first, 0.9), Percentile(row.first, 0.99),
                     Percentile(row.first, 1)});
  }
  return lines.size() == 1 ? "" : absl::StrCat("\nUntil the first response:\n", Table(lines));
}

std::string ServerTable(const std::vector<RowResult>& rows) {
  std::vector<Cells> lines = {
      {LoadColumn(rows[0]), "queue", "compute input", "infer", "output", "batch size"}};
  for (const RowResult& row : rows) {
    if (!row.server.has_value()) continue;
    lines.push_back({RowName(row), TimeText(row.server->queue), TimeText(row.server->compute_input),
                     TimeText(row.server->compute_infer), TimeText(row.server->compute_output),
                     NumberText(row.server->batch_size)});
  }
  if (lines.size() == 1) return "";
  return absl::StrCat("\nIn the server, means by its statistics, warm-up included:\n",
                      Table(lines));
}

std::string IntervalText(double share) {
  return std::isfinite(share) ? absl::StrFormat("%.1f %%", share * 100) : "unknown";
}

std::string StabilityText(const BenchOptions& options, const RowResult& row) {
  return absl::StrFormat("throughput ± %s, p%g ± %s (95 %% confidence; the limit is %g %%)",
                         IntervalText(row.throughput_interval), row.judged_percentile * 100,
                         IntervalText(row.latency_interval), options.stability);
}

}  // namespace

std::string Table(const std::vector<Cells>& lines) {
  const auto width = [](const std::string& cell) {
    return static_cast<size_t>(std::count_if(cell.begin(), cell.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
  };
  std::vector<size_t> widths(lines[0].size());
  for (const Cells& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string text;
  for (const Cells& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : "  ", std::string(widths[i] - width(line[i]), ' '),
                      line[i]);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string NumberText(double number) {
  if (number == 0) return "0";
  if (number >= 100) return absl::StrFormat("%.0f", number);
  return absl::StrFormat("%.*f", number >= 10 ? 1 : number >= 1 ? 2 : 3, number);
}

std::string TimeText(double microseconds) {
  if (microseconds < 1e3) return absl::StrCat(NumberText(microseconds), " µs");
  if (microseconds < 1e6) return absl::StrCat(NumberText(microseconds * 1e-3), " ms");
  return absl::StrCat(NumberText(microseconds * 1e-6), " s");
}

std::string RowName(const RowResult& row) {
  if (row.concurrency > 0) return absl::StrCat(row.concurrency);
  return row.rate > 0 ? absl::StrCat(row.rate, "/s") : "trace";
}

std::string LoadName(const RowResult& row) {
  return absl::StrCat(LoadColumn(row), " ", RowName(row));
}

std::string LoadText(const BenchOptions& options) {
  std::string text = absl::StrCat(options.model, options.version.empty() ? "" : ":",
                                  options.version, " at ", options.target.Url(), ", batch size ",
                                  std::max<int64_t>(options.inputs.batch_size, 1));
  if (options.streaming) absl::StrAppend(&text, ", streams");
  if (options.json_tensors) absl::StrAppend(&text, ", JSON tensors");
  if (options.shared_memory) absl::StrAppend(&text, ", system shared memory");
  if (options.sequences > 0) {
    absl::StrAppend(&text, ", ", options.sequences, " sequences of ", options.sequence_length);
  }
  const char* const arrivals = options.arrivals == Arrivals::kPoisson  ? "Poisson arrivals"
                               : options.arrivals == Arrivals::kBursty ? "arrivals in bursts"
                               : options.arrivals == Arrivals::kStep   ? "arrivals in steps"
                                                                       : "constant arrivals";
  absl::StrAppend(&text, ", ",
                  !options.open_loop()         ? "closed loop"
                  : options.trace_file.empty() ? arrivals
                                               : "arrivals of a trace");
  return text;
}

std::vector<std::string> Remarks(const BenchOptions& options, const RowResult& row) {
  std::vector<std::string> remarks;
  const auto add = [&](absl::string_view text) {
    remarks.push_back(absl::StrCat(LoadName(row), ": ", text));
  };
  if (!row.failure.empty()) add(absl::StrCat("ended early: ", row.failure));
  if (row.interrupted) add(absl::StrCat("ended by you after ", NumberText(row.seconds), " s"));
  if (!row.failed() && !row.interrupted) {
    const bool judged = options.stability > 0 && options.trace_file.empty();
    if (judged) {
      add(absl::StrCat(row.stable ? "stable after " : "NOT STABLE after ", NumberText(row.seconds),
                       " s: ", StabilityText(options, row)));
    }
  }
  if (row.late > 0) {
    add(absl::StrCat(row.late, " requests were sent more than ", kLateSeconds * 1e3,
                     " ms after they were due (counted in their latency)",
                     row.late * 10 > row.latency.count()
                         ? "; the server or this client does not keep up, or --max-in-flight is "
                           "too small"
                         : ""));
  }
  if (row.client_cpu > kBusyClient) {
    add(absl::StrFormat("this client used %.0f %% of a core and may be what limits the throughput",
                        row.client_cpu * 100));
  }
  for (const auto& [text, count] : row.errors.ByCount()) {
    add(absl::StrCat(count, " times: ", text));
  }
  return remarks;
}

std::string TextReport(const BenchOptions& options, const std::vector<RowResult>& rows) {
  std::string text = absl::StrCat(LoadText(options), "\n\n");
  if (rows.empty()) return text;
  absl::StrAppend(&text, LatencyTable(rows), FirstResponseTable(rows), ServerTable(rows));
  bool first = true;
  for (const RowResult& row : rows) {
    for (const std::string& remark : Remarks(options, row)) {
      absl::StrAppend(&text, first ? "\n" : "", remark, "\n");
      first = false;
    }
  }
  return text;
}

std::string LiveText(const RowResult& row) {
  if (row.windows.empty()) return absl::StrCat(LoadName(row), ": warm-up");
  const Window& window = row.windows.back();
  return absl::StrFormat("%s: %.1f s  %s/s  p50 %s  p99 %s  %d errors  ± %s", LoadName(row),
                         window.end_seconds, NumberText(window.throughput), TimeText(window.p50_us),
                         TimeText(window.p99_us), row.errors.total(),
                         IntervalText(std::max(row.throughput_interval, row.latency_interval)));
}

}  // namespace nereid::bench
