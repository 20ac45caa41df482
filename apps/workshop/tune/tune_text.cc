// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "bench/html_page.h"
#include "bench/svg_plot.h"
#include "bench/text_report.h"

namespace nereid {
namespace {

using bench::NumberText;
using bench::TimeText;

std::string LoadOf(const TuneOptions& options) {
  const TuneLoad& load = options.load;
  switch (load.kind) {
    case TuneLoad::Kind::kConcurrency:
      return absl::StrCat("a closed loop of ", load.concurrency, " clients");
    case TuneLoad::Kind::kRate:
      return absl::StrCat(NumberText(load.rate), " requests per second");
    case TuneLoad::Kind::kRecording:
      return absl::StrCat("the recording ", options.recording);
    case TuneLoad::Kind::kSweep:
      break;
  }
  return absl::StrCat("closed loops of 1 to ", load.concurrency, " clients");
}

std::string GoalOf(const Goal& goal) {
  std::string text = goal.objective == Objective::kLatency  ? "the lowest p99"
                     : goal.objective == Objective::kMemory ? "the least memory"
                                                            : "the largest throughput";
  if (goal.p99_us > 0) absl::StrAppend(&text, ", with a p99 of at most ", TimeText(goal.p99_us));
  if (goal.memory_mib > 0) {
    absl::StrAppend(&text, ", in at most ", NumberText(goal.memory_mib), " MiB");
  }
  if (goal.min_throughput > 0) {
    absl::StrAppend(&text, ", with at least ", NumberText(goal.min_throughput),
                    " requests per second");
  }
  return text;
}

std::string TimesText(const ServiceTimes& times) {
  const auto joined = [](const std::map<int, double>& values, const auto& form) {
    return absl::StrJoin(values, ", ", [&form](std::string* out, const auto& value) {
      absl::StrAppend(out, value.first, ": ", form(value.second));
    });
  };
  std::string text =
      absl::StrCat("An execution by its batch:  ", joined(times.by_batch_us, TimeText), "\n");
  for (const auto& [units, by_busy] : times.slowdown) {
    absl::StrAppend(&text, "Slower by instances at work, batches of ", units, ":  ",
                    joined(by_busy, [](double factor) { return absl::StrFormat("%.2f", factor); }),
                    "\n");
  }
  if (times.cpu_us > 0) {
    absl::StrAppend(&text, "A request outside its execution:  ", TimeText(times.overhead_us),
                    "\nProcessor time of a request:  ", TimeText(times.cpu_us));
    if (times.busy_cpu_us > 0) {
      absl::StrAppend(&text, " alone, ", TimeText(times.RequestCpuUs()),
                      " beside its execution while many are in flight");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string LearnedText(const TuneResult& result) {
  std::string text;
  for (size_t i = 0; i < result.models.size(); ++i) {
    const Engine today = EngineOf(result.compiled[i]);
    if (result.models.size() > 1) absl::StrAppend(&text, result.models[i], ":\n");
    const std::map<Engine, ServiceTimes>& by_engine = result.state.models[i].times;
    for (const auto& [engine, times] : by_engine) {
      if (by_engine.size() > 1) {
        absl::StrAppend(&text, engine == today ? "As today" : NameOf(engine), ":\n");
      }
      absl::StrAppend(&text, TimesText(times));
    }
  }
  if (!result.state.ensemble.has_value()) return text;
  return absl::StrCat(text, "All steps:\n", TimesText(result.state.ensemble->times.at(Engine())));
}

std::string Notes(const TuneResult& result) {
  std::string text;
  for (const auto& [engine, why] : result.left_out) {
    absl::StrAppend(&text, "Left out: ", NameOf(engine), ": ", why, "\n");
  }
  return text;
}

bench::Cells Row(const TuneResult& result, const Judged& judged, const char* mark) {
  const Performance& predicted = judged.predicted;
  const Performance& measured = judged.best_known();
  const auto clients = [](const Performance& performance) {
    return performance.concurrency > 0 ? absl::StrCat(performance.concurrency) : "-";
  };
  return {mark,
          NameOf(judged.configuration, result.models),
          NumberText(predicted.throughput),
          TimeText(predicted.p50_us),
          TimeText(predicted.p99_us),
          NumberText(measured.throughput),
          TimeText(measured.p50_us),
          TimeText(measured.p99_us),
          clients(measured),
          result.models.size() > 1 ? "-" : absl::StrFormat("%.2f", measured.mean_batch),
          absl::StrFormat("%.0f MiB", judged.measured->memory_mib),
          absl::StrCat(judged.measured->errors)};
}

std::string Evidence(const TuneResult& result) {
  std::vector<bench::Cells> lines = {{"", "configuration", "predicted/s", "p50", "p99",
                                      "measured/s", "p50", "p99", "clients", "batch", "memory",
                                      "errors"}};
  for (const size_t i : result.shown) {
    const char* const mark = i == result.chosen                  ? ">"
                             : i == 0                            ? "today"
                             : result.all[i].measured->times > 1 ? "near"
                                                                 : "";
    lines.push_back(Row(result, result.all[i], mark));
  }
  return bench::Table(lines);
}

std::string Choice(const TuneOptions& options, const TuneResult& result) {
  const std::string name = NameOf(result.all[result.chosen].configuration, result.models);
  std::string text = result.chosen == 0
                         ? absl::StrCat("Today's configuration is the best one: ", name, ".\n")
                         : absl::StrCat("The best one: ", name, ".\n");
  for (const Candidate& candidate : result.all[result.chosen].configuration) {
    if (candidate.engine.backend.empty()) continue;
    absl::StrAppend(&text,
                    "Another backend may give slightly different answers; compare them "
                    "first, or use --same-backend.\n");
  }
  if (!result.keeps_goal) {
    absl::StrAppend(&text, "None that was measured keeps the goal (", GoalOf(options.goal),
                    "); this one comes nearest.\n");
  }
  return text;
}

bench::PlotPoint PointOf(const Performance& performance, std::string label) {
  return {performance.throughput, performance.p99_us * 1e-3, std::move(label)};
}

}  // namespace

std::string FrontierPlot(const TuneResult& result) {
  constexpr size_t kWidth = 64;
  constexpr size_t kHeight = 14;
  double most_throughput = 1e-9;
  double most_p99 = 1e-9;
  for (const Judged& judged : result.all) {
    for (const Performance& performance : {judged.predicted, judged.best_known()}) {
      most_throughput = std::max(most_throughput, performance.throughput);
      most_p99 = std::max(most_p99, performance.p99_us);
    }
  }
  std::vector<std::string> rows(kHeight, std::string(kWidth, ' '));
  const auto draw = [&](const Performance& performance, char mark) {
    const auto x = static_cast<size_t>(performance.throughput / most_throughput * (kWidth - 1));
    const auto y = static_cast<size_t>(performance.p99_us / most_p99 * (kHeight - 1));
    rows[kHeight - 1 - y][x] = mark;
  };
  for (const Judged& judged : result.all) draw(judged.predicted, '.');
  for (const size_t i : result.shown) draw(result.all[i].best_known(), 'o');
  draw(result.all[0].best_known(), 'c');
  draw(result.all[result.chosen].best_known(), 'X');
  std::string text = absl::StrCat("p99, up to ", TimeText(most_p99), "\n");
  for (const std::string& row : rows) absl::StrAppend(&text, "  |", row, "\n");
  absl::StrAppend(&text, "  +", std::string(kWidth, '-'), "\n   infer/s, up to ",
                  NumberText(most_throughput), "   . predicted  o measured  c today  X chosen\n");
  return text;
}

std::string TuneText(const TuneOptions& options, const TuneResult& result) {
  return absl::StrCat(result.state.ensemble.has_value() ? "Ensemble " : "Model ", options.model,
                      " under ", LoadOf(options), ", batch size ", options.load.batch_size,
                      "\nGoal: ", GoalOf(options.goal), "\n\n", LearnedText(result), Notes(result),
                      "\n", result.all.size(), " configurations simulated, ", result.shown.size(),
                      " measured:\n\n", Evidence(result), "\n", FrontierPlot(result), "\n",
                      Choice(options, result));
}

std::string TuneHtml(const TuneOptions& options, const TuneResult& result,
                     const std::string& diff) {
  bench::Plot plot{"p99 against throughput", "infer/s", "p99, ms", {}, {}};
  bench::PlotLine predicted{"predicted", {}, /*dots=*/true};
  bench::PlotLine measured{"measured", {}, /*dots=*/true};
  bench::PlotLine frontier{"best of all, as far as known", {}};
  for (const Judged& judged : result.all) predicted.points.push_back(PointOf(judged.predicted, ""));
  for (const size_t i : result.shown) {
    measured.points.push_back(PointOf(result.all[i].best_known(), ""));
  }
  for (const size_t i : Frontier(result.all)) {
    frontier.points.push_back(PointOf(result.all[i].best_known(), ""));
  }
  plot.lines = {predicted, measured, frontier};
  plot.lines.push_back({"today", {PointOf(result.all[0].best_known(), "today")}});
  const Judged& chosen = result.all[result.chosen];
  plot.lines.push_back(
      {"chosen", {PointOf(chosen.best_known(), NameOf(chosen.configuration, result.models))}});
  return absl::StrCat(bench::HtmlHead("nereid tune"),
                      "<h1>nereid tune: ", bench::HtmlEscaped(options.model), "</h1>\n<pre>",
                      bench::HtmlEscaped(TuneText(options, result)), "\n", bench::HtmlEscaped(diff),
                      "</pre>\n", bench::HtmlSection(plot), "</body></html>\n");
}

}  // namespace nereid
