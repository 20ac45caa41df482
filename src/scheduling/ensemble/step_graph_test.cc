// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kUncounted = StepPlan::kUncounted;

CompiledModel Ensemble(
    const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
    const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>& steps) {
  CompiledModel model;
  model.name = "e";
  for (const std::string& name : inputs) model.inputs.emplace_back().name = name;
  for (const std::string& name : outputs) model.outputs.emplace_back().name = name;
  for (const auto& [from, to] : steps) {
    EnsembleStep& step = model.ensemble.steps.emplace_back();
    for (const std::string& tensor : from) step.inputs.push_back({"in_" + tensor, tensor});
    for (const std::string& tensor : to) step.outputs.push_back({"out_" + tensor, tensor});
  }
  return model;
}

// a -> b -> { c, d } -> z, and b -> y
CompiledModel Diamond() {
  return Ensemble(
      {"a"}, {"z", "y"},
      {{{"a"}, {"b"}}, {{"b"}, {"c"}}, {{"b"}, {"d"}}, {{"c", "d"}, {"z"}}, {{"b"}, {"y"}}});
}

TEST(StepGraphTest, TensorsKnowTheirEnds) {
  const StepGraph graph = *StepGraph::Make(Diamond(), std::vector<bool>(5));
  ASSERT_EQ(graph.tensors().size(), 6u);
  const StepGraph::Tensor& b = graph.tensors()[graph.steps()[0].outputs[0].tensor];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.writer, 0);
  EXPECT_EQ(b.output, -1);
  EXPECT_THAT(b.readers, ElementsAre(1, 2, 4));
  EXPECT_EQ(graph.tensors()[graph.inputs()[0]].writer, -1);
  EXPECT_EQ(graph.tensors()[graph.outputs()[1]].output, 1);
  EXPECT_EQ(graph.steps()[3].inputs[1].name, "in_d");
  EXPECT_FALSE(graph.shares_inputs());
}

TEST(StepGraphTest, OnlyWhatIsWantedRuns) {
  const StepGraph graph = *StepGraph::Make(Diamond(), std::vector<bool>(5));
  const StepPlan& all = graph.full_plan();
  EXPECT_THAT(all.runs, ElementsAre(1, 1, 1, 1, 1));
  EXPECT_EQ(all.step_count, 5u);
  EXPECT_THAT(all.fixed_inputs, ElementsAre(1, 1, 1, 2, 1));
  EXPECT_THAT(all.moving_inputs, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(all.uses, ElementsAre(1, 3, 1, 1, 1, 1));  // a b c d z y
  EXPECT_FALSE(all.decoupled);

  const StepPlan y = graph.PlanFor({1});
  EXPECT_THAT(y.runs, ElementsAre(1, 0, 0, 0, 1));
  EXPECT_EQ(y.step_count, 2u);
  EXPECT_THAT(y.uses, ElementsAre(1, 1, 0, 0, 0, 1));
  EXPECT_EQ(y.fixed_outputs, 1u);
}

TEST(StepGraphTest, WhatComesOnceIsKeptForAllIterations) {
  // The second step is decoupled. The third reads its answers, and a, which has one value.
  const CompiledModel ensemble =
      Ensemble({"a"}, {"z"}, {{{"a"}, {"b"}}, {{"b"}, {"c"}}, {{"a", "c"}, {"z"}}});
  const StepGraph graph = *StepGraph::Make(ensemble, {false, true, false});
  const StepPlan& plan = graph.full_plan();
  EXPECT_TRUE(plan.decoupled);
  EXPECT_TRUE(graph.shares_inputs());
  EXPECT_FALSE(graph.steps()[1].iterated);
  EXPECT_TRUE(graph.steps()[2].iterated);
  EXPECT_THAT(plan.uses, ElementsAre(kUncounted, 1, 1, 1));  // a b c z
  EXPECT_THAT(plan.fixed_inputs, ElementsAre(1, 1, 1));
  EXPECT_THAT(plan.moving_inputs, ElementsAre(0, 0, 1));
  EXPECT_EQ(plan.moving_outputs, 1u);
}

TEST(StepGraphTest, DecoupledModelsDoNotMeet) {
  const CompiledModel ensemble =
      Ensemble({"a"}, {"z"}, {{{"a"}, {"b"}}, {{"a"}, {"c"}}, {{"b", "c"}, {"z"}}});
  EXPECT_EQ(StepGraph::Make(ensemble, {true, true, false}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

std::vector<std::pair<uint32_t, uint32_t>> Pairs(const StepRuns& runs) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const StepRun& run : runs) pairs.push_back({run.step, run.iteration});
  return pairs;
}

using Complete = absl::InlinedVector<uint32_t, 1>;
using ::testing::Pair;

TEST(RunProgressTest, StepsStartWhenAllIsThere) {
  const StepGraph graph = *StepGraph::Make(Diamond(), std::vector<bool>(5));
  const StepPlan plan = graph.PlanFor({0});
  RunProgress progress(graph, plan);
  StepRuns start;
  Complete complete;
  progress.Arrive(0, 0, &start, &complete);  // a
  EXPECT_THAT(Pairs(start), ElementsAre(Pair(0, 0)));
  start.clear();
  progress.Arrive(1, 0, &start, &complete);  // b; y is not wanted
  EXPECT_THAT(Pairs(start), ElementsAre(Pair(1, 0), Pair(2, 0)));
  start.clear();
  progress.Arrive(3, 0, &start, &complete);  // d
  EXPECT_THAT(start, IsEmpty());
  progress.Arrive(2, 0, &start, &complete);  // c
  EXPECT_THAT(Pairs(start), ElementsAre(Pair(3, 0)));
  EXPECT_EQ(progress.under_way(), 4u);
  EXPECT_TRUE(progress.Lacks(plan, 0));
  progress.Arrive(4, 0, &start, &complete);  // z
  EXPECT_THAT(complete, ElementsAre(0));
  EXPECT_FALSE(progress.Lacks(plan, 0));
}

TEST(RunProgressTest, IterationsGatherByTheirNumber) {
  // The first step is decoupled, with the outputs b and c. The second reads a, b and c.
  const StepGraph graph = *StepGraph::Make(
      Ensemble({"a", "i"}, {"z"}, {{{"i"}, {"b", "c"}}, {{"a", "b", "c"}, {"z"}}}), {true, false});
  RunProgress progress(graph, graph.full_plan());
  StepRuns start;
  Complete complete;
  const auto arrive = [&](uint32_t tensor, uint32_t iteration) {
    progress.Arrive(tensor, iteration, &start, &complete);
  };
  const uint32_t a = 0, i = 1, b = 2, c = 3, z = 4;
  arrive(i, 0);
  EXPECT_THAT(Pairs(start), ElementsAre(Pair(0, 0)));
  start.clear();
  arrive(b, 0);
  arrive(b, 1);
  arrive(c, 1);
  arrive(c, 2);
  EXPECT_THAT(start, IsEmpty());
  arrive(a, 0);
  EXPECT_THAT(Pairs(start), ElementsAre(Pair(1, 1)));
  start.clear();
  arrive(c, 0);
  arrive(b, 2);
  EXPECT_THAT(Pairs(start), ElementsAre(Pair(1, 0), Pair(1, 2)));
  arrive(z, 2);
  arrive(z, 0);
  EXPECT_THAT(complete, ElementsAre(2, 0));
}

TEST(RunProgressTest, NothingStartsOnceItIsAbandoned) {
  const StepGraph graph =
      *StepGraph::Make(Ensemble({"a"}, {"z"}, {{{"a"}, {"b"}}, {{"b"}, {"z"}}}), {true, false});
  RunProgress progress(graph, graph.full_plan());
  StepRuns start;
  Complete complete;
  progress.Arrive(0, 0, &start, &complete);
  for (uint32_t i = 0; i < 2; ++i) progress.Arrive(1, i, &start, &complete);
  EXPECT_THAT(Pairs(start), ElementsAre(Pair(0, 0), Pair(1, 0), Pair(1, 1)));
  EXPECT_EQ(progress.under_way(), 3u);
  progress.Finish();
  progress.Abandon();
  start.clear();
  progress.Arrive(1, 2, &start, &complete);
  EXPECT_THAT(start, IsEmpty());
  EXPECT_EQ(progress.under_way(), 2u);
}

}  // namespace
}  // namespace nereid
