// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_text.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::HasSubstr;

// Today's configuration, and one with twice its throughput.
TuneResult Result() {
  TuneResult result;
  ServiceTimes times;
  times.by_batch_us = {{1, 20'000}};
  times.cpu_us = 30;
  result.models = {"m"};
  result.compiled.resize(1);
  result.state.models.push_back({"", {{Engine(), times}}});
  result.all.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    Judged& judged = result.all[i];
    judged.configuration.emplace_back().instances = static_cast<int32_t>(i + 1);
    judged.predicted = {2, 50.0 * static_cast<double>(i + 1), 20'000, 21'000, 1};
  }
  for (const size_t i : {0, 1}) {
    result.all[i].measured.emplace();
    result.all[i].measured->performance = result.all[i].predicted;
    result.all[i].measured->memory_mib = 30;
  }
  result.shown = {0, 1};
  result.chosen = 1;
  result.keeps_goal = true;
  return result;
}

TuneOptions Options() {
  TuneOptions options;
  options.model = "<m>";
  options.goal.p99_us = 25'000;
  options.load.concurrency = 8;
  return options;
}

TEST(TuneText, ShowsTheEvidence) {
  const std::string text = TuneText(Options(), Result());
  EXPECT_THAT(text, HasSubstr("Model <m> under closed loops of 1 to 8 clients, batch size 1\n"
                              "Goal: the largest throughput, with a p99 of at most 25.0 ms\n"));
  EXPECT_THAT(text, HasSubstr("3 configurations simulated, 2 measured"));
  EXPECT_THAT(text, HasSubstr("today     1 instance         50.0  20.0 ms  21.0 ms"));
  EXPECT_THAT(text, HasSubstr("    >    2 instances          100"));
  EXPECT_THAT(text, HasSubstr("The best one: 2 instances.\n"));
}

TEST(TuneText, TimesOfThreads) {
  TuneResult result = Result();
  result.state.models[0].times[Engine{1}].by_batch_us = {{1, 40'000}};
  EXPECT_THAT(TuneText(Options(), result),
              HasSubstr("As today:\nAn execution by its batch:  1: 20.0 ms\n"
                        "A request outside its execution:  0 µs\n"
                        "Processor time of a request:  30.0 µs\n"
                        "1 thread:\nAn execution by its batch:  1: 40.0 ms\n"));
}

TEST(TuneText, AnotherBackend) {
  TuneResult result = Result();
  result.left_out[Engine{1, "openvino"}] = "too large";
  result.all[1].configuration[0].engine.backend = "openvino";
  const std::string text = TuneText(Options(), result);
  EXPECT_THAT(text, HasSubstr("Left out: openvino with 1 thread: too large\n"));
  EXPECT_THAT(text, HasSubstr("The best one: 2 instances of openvino.\nAnother backend may give"));
}

TEST(TuneText, AnEnsemble) {
  TuneResult result = Result();
  result.models = {"a", "b"};
  result.compiled.resize(2);
  result.state.models.push_back(result.state.models[0]);
  result.state.ensemble.emplace().times[Engine()].by_batch_us = {{1, 40'000}};
  for (Judged& judged : result.all) judged.configuration.push_back({3, 0, false, {}, 0});
  const std::string text = TuneText(Options(), result);
  EXPECT_THAT(text, HasSubstr("Ensemble <m> under closed loops"));
  EXPECT_THAT(text, HasSubstr("b:\nAn execution by its batch:  1: 20.0 ms\n"));
  EXPECT_THAT(text, HasSubstr("All steps:\nAn execution by its batch:  1: 40.0 ms\n"));
  EXPECT_THAT(text, HasSubstr("The best one: a: 2 instances; b: 3 instances.\n"));
}

TEST(TuneText, NamesTheObjective) {
  TuneOptions options = Options();
  options.goal.objective = Objective::kMemory;
  options.goal.min_throughput = 70;
  EXPECT_THAT(TuneText(options, Result()),
              HasSubstr("Goal: the least memory, with a p99 of at most 25.0 ms, with at least 70.0 "
                        "requests per second\n"));
}

TEST(TuneText, SaysThatTheGoalIsNotKept) {
  TuneResult result = Result();
  result.keeps_goal = false;
  result.chosen = 0;
  const std::string text = TuneText(Options(), result);
  EXPECT_THAT(text, HasSubstr("Today's configuration is the best one: 1 instance.\n"
                              "None that was measured keeps the goal"));
}

TEST(FrontierPlot, HasAMarkForEach) {
  const std::string plot = FrontierPlot(Result());
  EXPECT_THAT(plot,
              HasSubstr("  |                     c                    X                    ."));
  EXPECT_THAT(plot, HasSubstr("infer/s, up to 150"));
}

TEST(TuneHtml, IsEscaped) {
  const std::string page = TuneHtml(Options(), Result(), "+a < b\n");
  EXPECT_THAT(page, HasSubstr("<h1>nereid tune: &lt;m&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("+a &lt; b"));
  EXPECT_THAT(page, HasSubstr("<svg"));
}

}  // namespace
}  // namespace nereid
