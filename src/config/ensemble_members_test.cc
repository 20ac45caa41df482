// SPDX-License-Identifier: Apache-2.0
#include "config/ensemble_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// An ensemble "e" from A to Z and the models of its steps.
class EnsembleMembersTest : public ::testing::Test {
 protected:
  EnsembleMembersTest() {
    ensemble_.name = "e";
    ensemble_.inputs.push_back(Input("A", {4}));
    ensemble_.outputs.push_back(Output("Z", {4}));
  }

  static InputSpec Input(std::string name, Shape dims, DataType type = DataType::kFp32) {
    InputSpec spec;
    spec.name = std::move(name);
    spec.dims = std::move(dims);
    spec.data_type = type;
    return spec;
  }
  static OutputSpec Output(std::string name, Shape dims, DataType type = DataType::kFp32) {
    OutputSpec spec;
    spec.name = std::move(name);
    spec.dims = std::move(dims);
    spec.data_type = type;
    return spec;
  }

  // A step of a model of its own from input I to output O, both [4] of FP32.
  CompiledModel& Step(const std::string& model, const std::string& from, const std::string& to) {
    ensemble_.ensemble.steps.push_back({model, -1, "", {{"I", from}}, {{"O", to}}});
    CompiledModel& member = members_.emplace_back();
    member.name = model;
    member.inputs.push_back(Input("I", {4}));
    member.outputs.push_back(Output("O", {4}));
    return member;
  }

  std::string Problem() {
    std::vector<const CompiledModel*> members;
    for (const CompiledModel& member : members_) members.push_back(&member);
    return std::string(CheckEnsembleMembers(ensemble_, members).message());
  }

  CompiledModel ensemble_;
  std::deque<CompiledModel> members_;
};

TEST_F(EnsembleMembersTest, AcceptsWhatFits) {
  Step("x", "A", "b");
  Step("y", "b", "Z");
  EXPECT_EQ(Problem(), "");
}

TEST_F(EnsembleMembersTest, Batches) {
  ensemble_.max_batch_size = 8;
  Step("x", "A", "Z").max_batch_size = 4;
  EXPECT_THAT(Problem(), HasSubstr("ensemble e allows maximum batch size 8, but it contains model "
                                   "x which only allows maximum batch size to be 4"));
  members_[0].max_batch_size = 8;
  EXPECT_EQ(Problem(), "");
}

TEST_F(EnsembleMembersTest, TensorsOfMembers) {
  Step("x", "A", "Z");
  ensemble_.ensemble.steps[0].inputs[0].name = "J";
  ensemble_.ensemble.steps[0].outputs[0].name = "P";
  const std::string problem = Problem();
  EXPECT_THAT(problem, HasSubstr("in ensemble e, ensemble tensor A is mapping to non-existing "
                                 "input J in model x"));
  EXPECT_THAT(problem, HasSubstr("in ensemble e, input I in model x is not mapped to any ensemble "
                                 "tensors"));
  EXPECT_THAT(problem, HasSubstr("in ensemble e, ensemble tensor Z is mapped from non-existing "
                                 "output P in model x"));
  EXPECT_THAT(problem, HasSubstr("(ensemble_scheduling.step[0].input_map: "));
}

TEST_F(EnsembleMembersTest, OptionalInputsNeedNoTensor) {
  CompiledModel& member = Step("x", "A", "Z");
  member.inputs.push_back(Input("extra", {1}));
  EXPECT_THAT(Problem(), HasSubstr("input extra in model x is not mapped"));
  member.inputs.back().optional = true;
  EXPECT_EQ(Problem(), "");
}

TEST_F(EnsembleMembersTest, OneTensorForTwoOutputs) {
  Step("x", "A", "Z").outputs.push_back(Output("P", {4}));
  ensemble_.ensemble.steps[0].outputs.push_back({"P", "Z"});
  EXPECT_THAT(Problem(), HasSubstr("in ensemble e, multiple outputs in model x are mapped to the "
                                   "same ensemble tensor Z"));
}

TEST_F(EnsembleMembersTest, TypesAndShapes) {
  Step("x", "A", "b");
  Step("y", "b", "Z");
  members_[1].inputs[0].data_type = DataType::kInt32;
  EXPECT_THAT(Problem(), HasSubstr("in ensemble e, ensemble tensor b: inconsistent data type: "
                                   "TYPE_FP32 is inferred from model x while TYPE_INT32 is "
                                   "inferred from model y"));
  members_[1].inputs[0].data_type = DataType::kBytes;
  EXPECT_THAT(Problem(), HasSubstr("while TYPE_STRING is inferred from model y"));
  members_[1].inputs[0].data_type = DataType::kFp32;
  members_[1].inputs[0].dims = {5};
  EXPECT_THAT(Problem(), HasSubstr("in ensemble e, ensemble tensor b: inconsistent shape: [4] is "
                                   "inferred from model x while [5] is inferred from model y"));
  members_[1].inputs[0].dims = {kVariableDim};
  EXPECT_EQ(Problem(), "");
  members_[0].inputs[0].dims = {2, 2};
  EXPECT_THAT(Problem(), HasSubstr("inconsistent shape: [4] is inferred from model e while [2,2] "
                                   "is inferred from model x"));
}

TEST_F(EnsembleMembersTest, OfTheEnsembleTheReshapedShapesCount) {
  Step("x", "A", "Z");
  ensemble_.inputs[0].reshape = Shape{2, 2};
  ensemble_.outputs[0].reshape = Shape{2, 2};
  EXPECT_THAT(Problem(), HasSubstr("inconsistent shape: [2,2] is inferred from model e while [4] "
                                   "is inferred from model x"));
  members_[0].inputs[0].dims = members_[0].outputs[0].dims = {2, 2};
  EXPECT_EQ(Problem(), "");
  members_[0].inputs[0].reshape = Shape{1, 4};
  EXPECT_EQ(Problem(), "") << "that is between the member and its backend";
}

TEST_F(EnsembleMembersTest, BatchDimensionsMeetFullShapes) {
  Step("x", "A", "Z");
  ensemble_.max_batch_size = 8;
  members_[0].inputs[0].dims = {kVariableDim, 4};
  EXPECT_THAT(Problem(), "");  // [-1,4] on both sides
  members_[0].inputs[0].dims = {2, 2, 4};
  EXPECT_THAT(Problem(), HasSubstr("inconsistent shape: [-1,4] is inferred from model e while "
                                   "[2,2,4] is inferred from model x"));
}

TEST_F(EnsembleMembersTest, AnswersOfTwoDecoupledModelsDoNotMeet) {
  Step("d1", "A", "b").decoupled = true;
  Step("d2", "A", "c").decoupled = true;
  Step("x", "b", "Z");
  ensemble_.ensemble.steps[2].inputs.push_back({"J", "c"});
  members_[2].inputs.push_back(Input("J", {4}));
  EXPECT_EQ(Problem(),
            "in ensemble e, step of model 'x' receives inputs originated from different decoupled "
            "models (ensemble_scheduling: take the inputs of each step, and the outputs, from at "
            "most one decoupled model)");
}

TEST_F(EnsembleMembersTest, NorDoTheyMeetInTheOutputs) {
  Step("d1", "A", "Z").decoupled = true;
  Step("d2", "A", "Y").decoupled = true;
  EXPECT_EQ(Problem(), "") << "Y is no output";
  ensemble_.outputs.push_back(ensemble_.outputs[0]);
  ensemble_.outputs.back().name = "Y";
  EXPECT_THAT(Problem(), StartsWith("in ensemble e, step of model 'e' receives inputs originated "
                                    "from different decoupled models"));
  members_[1].decoupled = false;
  EXPECT_EQ(Problem(), "") << "Y takes part in every answer";
}

TEST_F(EnsembleMembersTest, NoCacheOverAMemberThatKeepsState) {
  Step("x", "A", "b");
  Step("acc", "b", "Z").keeps_state = true;
  EXPECT_EQ(Problem(), "");
  ensemble_.response_cache = true;
  EXPECT_EQ(Problem(),
            "Response Cache does not currently support model e with sequence batching scheduler. "
            "Please disable the response cache. (response_cache.enable: set it to false: answers "
            "of its member 'acc' depend on earlier requests)");
  members_[1].keeps_state = false;
  EXPECT_EQ(Problem(), "");
}

TEST_F(EnsembleMembersTest, OriginsOfSteps) {
  Step("x", "b", "Z");  // out of order
  Step("d", "A", "b");
  Step("y", "A", "c");
  ensemble_.ensemble.steps[0].inputs.push_back({"J", "c"});
  EXPECT_THAT(*DecoupledOrigins(ensemble_, {false, true, false}), ElementsAre(2, 0, 0));
  EXPECT_THAT(*DecoupledOrigins(ensemble_, {false, false, false}), ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace nereid
