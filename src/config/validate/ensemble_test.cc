// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A step "s" that reads tensor `in` and writes tensor `out`.
std::string Step(const std::string& in, const std::string& out) {
  return "step { model_name: 's' input_map { key: 'I' value: '" + in +
         "' } output_map { key: 'O' value: '" + out + "' } } ";
}

std::vector<std::string> EnsembleProblems(const std::string& steps, const std::string& more = "") {
  return ProblemsOf(CheckEnsemble,
                    "name: 'e' platform: 'ensemble' input { name: 'A' } output { name: 'Z' } "
                    "ensemble_scheduling { " +
                        steps + " } " + more);
}

TEST(CheckEnsembleTest, AcceptsGoodOnesAndOtherModels) {
  EXPECT_THAT(ProblemsOf(CheckEnsemble, "name: 'm' backend: 'b'"), IsEmpty());
  EXPECT_THAT(EnsembleProblems(Step("A", "Z")), IsEmpty());
  EXPECT_THAT(EnsembleProblems(Step("B", "Z") + Step("A", "B")), IsEmpty());
}

TEST(CheckEnsembleTest, PlatformAndSchedulingGoTogether) {
  EXPECT_THAT(ProblemsOf(CheckEnsemble, "name: 'e' platform: 'ensemble'"),
              ElementsAre("ensemble_scheduling: ensemble scheduling must be set for ensemble e "
                          "whose platform is ensemble"));
  EXPECT_THAT(ProblemsOf(CheckEnsemble, "name: 'm' backend: 'b' ensemble_scheduling { }"),
              ElementsAre("ensemble_scheduling: ensemble scheduling cannot be set for model 'm' "
                          "whose platform is not ensemble"));
}

TEST(CheckEnsembleTest, FieldsThatBelongToComposingModels) {
  EXPECT_THAT(EnsembleProblems(Step("A", "Z"),
                               "instance_group { } optimization { } model_warmup { name: 'w' }"),
              ElementsAre("instance_group: instance group should not be specified for ensemble 'e'",
                          "optimization: optimization should not be specified for ensemble 'e'",
                          "model_warmup: model_warmup can not be specified for ensemble 'e'"));
}

TEST(CheckEnsembleTest, StepsAreComplete) {
  EXPECT_THAT(EnsembleProblems(""),
              ElementsAre("ensemble_scheduling.step: must specify 'step' for ensemble 'e'"));
  EXPECT_THAT(
      EnsembleProblems(Step("A", "Z") + "step { }"),
      ElementsAre(
          "ensemble_scheduling.step[1].model_name: must specify 'model_name' in step 1 of "
          "ensemble 'e'",
          "ensemble_scheduling.step[1].input_map: must specify 'input_map' in step 1 of ensemble "
          "'e'",
          "ensemble_scheduling.step[1].output_map: must specify 'output_map' in step 1 of "
          "ensemble 'e'"));
}

TEST(CheckEnsembleTest, TensorsAreWrittenOnce) {
  EXPECT_THAT(EnsembleProblems(Step("A", "Z") + Step("A", "Z")),
              ElementsAre("ensemble_scheduling.step[1].output_map: ensemble tensor 'Z' can appear "
                          "in an output map only once for ensemble 'e' step 1"));
}

TEST(CheckEnsembleTest, InputsAndOutputsAreUsed) {
  EXPECT_THAT(EnsembleProblems(Step("A", "Z"), "input { name: 'B' } output { name: 'Y' }"),
              ElementsAre("input[1]: ensemble input 'B' for ensemble e' is not used",
                          "output[1]: ensemble output 'Y' for ensemble e' is not used"));
}

TEST(CheckEnsembleTest, OutputsAreReachable) {
  EXPECT_THAT(EnsembleProblems(Step("A", "Z") + Step("Y", "X"), "output { name: 'X' }"),
              ElementsAre("output[1]: output 'X' for ensemble 'e' is not written: at least one of "
                          "its depending tensors, 'Y', is not connected"));
  EXPECT_THAT(EnsembleProblems(Step("A", "Z") + Step("Y", "X"), "output { name: 'Y' }"),
              ElementsAre("output[1]: output 'Y' for ensemble 'e' is not written",
                          "ensemble_scheduling.step[1].output_map: ensemble tensor 'X' is unused "
                          "in ensemble 'e'"));
}

TEST(CheckEnsembleTest, CyclesAreNotReachable) {
  EXPECT_THAT(EnsembleProblems(Step("A", "B") + Step("Z", "C") + Step("C", "Z")),
              ElementsAre("output[0]: output 'Z' for ensemble 'e' is not written: at least one of "
                          "its depending tensors, 'C', is not connected",
                          "ensemble_scheduling.step[0].output_map: ensemble tensor 'B' is unused "
                          "in ensemble 'e'"));
}

}  // namespace
}  // namespace nereid
