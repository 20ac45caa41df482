// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <cmath>

#include "bench/text_report.h"

namespace nereid {
namespace {

using bench::NumberText;
using bench::TimeText;

// "1 node", "2 nodes".
std::string Plural(uint64_t count, const char* what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string LengthText(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
  return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string NodeText(const CapacityOptions& options, const MeasuredNode& node) {
  const ServiceTimes& times = node.times;
  std::string text = absl::StrCat("Model ", options.model, ", ", NameOf(node.candidate));
  if (times.processors > 0) {
    absl::StrAppend(&text, ", on nodes of ", Plural(times.processors, "processor"));
  }
  const int size = static_cast<int>(options.load.batch_size);
  const int largest = std::max(node.candidate.batching ? node.candidate.max_batch_size : 1, size);
  const double full = static_cast<double>(largest) / size;
  absl::StrAppend(&text, "\n\nAn execution:  ", TimeText(times.BatchUs(size)), " for one request");
  if (full > 1) {
    absl::StrAppend(&text, ", ", TimeText(times.BatchUs(largest)), " for a batch of ", largest);
  }
  absl::StrAppend(&text, "\nA request outside its execution:  ", TimeText(times.overhead_us), "\n");
  if (times.processors > 0 && times.cpu_us > 0) {
    const double alone = times.MostThroughput(1, size) / times.processors;
    absl::StrAppend(&text, "A processor serves:  ", NumberText(alone), " requests/s one by one");
    if (full > 1) {
      const double batched = times.MostThroughput(full, size) / times.processors;
      absl::StrAppend(&text, ", ", NumberText(batched), " in full batches");
    }
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppend(&text, "Memory of the server:  ",
                  node.memory_mib > 0 ? absl::StrFormat("%.0f MiB", node.memory_mib)
                                      : "was not measured with so many instances",
                  "\n");
  return text;
}

std::string AloneText(const CapacityResult& result) {
  std::vector<bench::Cells> lines = {{"clients", "infer/s", "p50", "p99", "batch"}};
  for (const Performance& row : result.alone) {
    lines.push_back({absl::StrCat(row.concurrency), NumberText(row.throughput),
                     TimeText(row.p50_us), TimeText(row.p99_us),
                     absl::StrFormat("%.2f", row.mean_batch)});
  }
  return absl::StrCat("One node, closed loops:\n", bench::Table(lines));
}

const char* KindOf(bench::Arrivals arrivals) {
  switch (arrivals) {
    case bench::Arrivals::kUniform:
      return "constant";
    case bench::Arrivals::kBursty:
      return "bursty";
    case bench::Arrivals::kStep:
      return "step";
    case bench::Arrivals::kPoisson:
      break;
  }
  return "poisson";
}

std::string LoadText(const CapacityOptions& options, const CapacityResult& result) {
  const CapacityLoad& load = options.load;
  std::string text;
  switch (load.kind) {
    case CapacityLoad::Kind::kRecording:
      text = absl::StrCat("The recording ", load.recording);
      break;
    case CapacityLoad::Kind::kDay:
      text = absl::StrCat(absl::StrJoin(load.day, ", "), " requests/s over ",
                          LengthText(load.seconds));
      break;
    default:
      text = absl::StrCat(NumberText(load.rate), " requests/s (", KindOf(load.arrivals), ") over ",
                          LengthText(load.seconds));
  }
  return absl::StrCat(
      text, ": ", Plural(result.requests, "request"), " of batch size ",
      load.kind == CapacityLoad::Kind::kRecording ? "as recorded" : absl::StrCat(load.batch_size));
}

std::string RowsText(const CapacityOptions& options, const CapacityResult& result) {
  std::vector<bench::Cells> lines = {
      {"", "nodes", "infer/s", "p50", "p99", "late", "unserved", "busy", "batch"}};
  for (size_t i = 0; i < result.rows.size(); ++i) {
    const FleetRow& row = result.rows[i];
    const FleetSummary& summary = row.summary;
    lines.push_back({result.chosen == i ? ">" : "", absl::StrCat(row.nodes),
                     NumberText(summary.throughput), TimeText(row.p50_us), TimeText(row.p99_us),
                     options.p99_us > 0 ? absl::StrCat(summary.late) : "-",
                     absl::StrCat(summary.unserved), absl::StrFormat("%.0f %%", summary.busy * 100),
                     absl::StrFormat("%.2f", summary.mean_batch)});
  }
  return bench::Table(lines);
}

std::string ChoiceText(const CapacityOptions& options, const CapacityResult& result) {
  const std::string goal = absl::StrCat("a p99 of at most ", TimeText(options.p99_us));
  if (!result.chosen.has_value()) {
    return absl::StrCat("Not even ", Plural(options.max_nodes, "node"), " keep ", goal,
                        "; --max-nodes allows more, up to ", FleetOptions::kMostNodes, ".\n");
  }
  return absl::StrCat(Plural(result.rows[*result.chosen].nodes, "node"),
                      result.rows[*result.chosen].nodes == 1 ? " keeps " : " keep ", goal, ".\n");
}

std::string PeriodsText(const CapacityOptions& options, const CapacityResult& result) {
  std::vector<bench::Cells> lines = {{"from", "requests/s", "ready", "all nodes", "p99", "late"}};
  for (const FleetPeriod& period : result.periods) {
    lines.push_back({LengthText(period.from_seconds), NumberText(period.rate),
                     absl::StrFormat("%.1f", period.ready), absl::StrFormat("%.1f", period.all),
                     period.p99_us > 0 ? TimeText(period.p99_us) : "-",
                     options.p99_us > 0 ? absl::StrCat(period.late) : "-"});
  }
  return bench::Table(lines);
}

std::string ScalerText(const AutoscalerOptions& scaler, Duration start) {
  const auto seconds = [](Duration time) {
    return absl::StrCat(static_cast<double>(time.count()) * 1e-9, " s");
  };
  return absl::StrCat("An autoscaler keeps ", scaler.target, " requests ",
                      scaler.gauge == AutoscalerOptions::Gauge::kQueued ? "queued" : "in flight",
                      " per node, with ", scaler.least, " to ", scaler.most,
                      " nodes; it looks every ", seconds(scaler.interval), ", a node starts in ",
                      seconds(start), ", and goes when it has not been needed for ",
                      seconds(scaler.stabilization), ".\n");
}

std::string FleetTotals(const CapacityOptions& options, const CapacityResult& result) {
  const FleetRow& row = result.rows[0];
  std::string text =
      absl::StrFormat("%.2f node-hours, at most %s at a time.", row.node_seconds / 3600,
                      Plural(row.summary.most_nodes, "node"));
  if (options.p99_us > 0) {
    const size_t over = row.summary.late + row.summary.unserved;
    absl::StrAppend(
        &text,
        absl::StrFormat(" %d of %d requests (%.2f %%) are not answered within %s.", over,
                        result.requests,
                        100.0 * static_cast<double>(over) / static_cast<double>(result.requests),
                        TimeText(options.p99_us)));
  }
  return text + "\n";
}

}  // namespace

std::string CapacityText(const CapacityOptions& options, const CapacityResult& result) {
  std::string text = absl::StrCat(NodeText(options, result.node), "\n", AloneText(result));
  if (result.rows.empty()) return text;
  absl::StrAppend(&text, "\n", LoadText(options, result), "\n");
  if (options.autoscaler.has_value()) {
    absl::StrAppend(&text, ScalerText(*options.autoscaler, options.start));
  }
  absl::StrAppend(&text, "\n", RowsText(options, result), "\n");
  if (options.searches()) return text + ChoiceText(options, result);
  return absl::StrCat(text, PeriodsText(options, result), "\n", FleetTotals(options, result));
}

}  // namespace nereid
