// SPDX-License-Identifier: Apache-2.0
// Ensembles: tensors that are left out, and tensors whose shapes change between the steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "scheduling/testing/ensemble_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

class EnsembleTensorsTest : public EnsembleFixture {};

TEST_F(EnsembleTensorsTest, OptionalInputsMayBeLeftOut) {
  InputSpec spec;
  spec.name = "maybe";
  spec.data_type = DataType::kInt32;
  spec.dims = {kVariableDim};
  spec.optional = true;
  builder_.Input(spec);
  Input("i");
  Output("o");
  spec.name = "B";
  ModelBuilder member("m");
  member.Input("A", DataType::kInt32, {-1}).Input(spec).Output("O", DataType::kInt32, {-1});
  steps_["m"] = std::make_unique<FakeStep>(member.Build());
  Step("m", {{"A", "i"}, {"B", "maybe"}}, {{"O", "o"}});
  Build();
  for (const bool given : {true, false}) {
    TestRequest& request = given ? Start({{"i", {1}}, {"maybe", {2}}}) : Start({{"i", {1}}});
    RequestPtr child = step("m").Take();
    EXPECT_EQ(child->inputs().size(), given ? 2u : 1u);
    FakeStep::Finish(std::move(child), {{"O", {1}}});
    request.WaitDone();
    EXPECT_TRUE(request.final_status().ok());
  }
}

// "first" has outputs O and P; "second" reads O as A, and P as B.
class LeftOutTest : public EnsembleFixture {
 protected:
  // `optional`: "second" can run without B. `more`: P is an output of the ensemble, too.
  void MayLeaveOut(bool optional, bool more = false, bool decoupled = false) {
    Input("i");
    Output("o");
    if (more) Output("p");
    Model("first", {"I"}, {"O", "P"}, decoupled);
    InputSpec spec;
    spec.name = "B";
    spec.data_type = DataType::kInt32;
    spec.dims = {kVariableDim};
    spec.optional = optional;
    ModelBuilder second("second");
    second.Input("A", DataType::kInt32, {-1}).Input(spec).Output("O", DataType::kInt32, {-1});
    steps_["second"] = std::make_unique<FakeStep>(second.Build());
    Step("first", {{"I", "i"}}, {{"O", "t"}, {"P", "p"}});
    Step("second", {{"A", "t"}, {"B", "p"}}, {{"O", "o"}});
    Build();
  }
};

TEST_F(LeftOutTest, AStepRunsWithoutAnOptionalInput) {
  MayLeaveOut(/*optional=*/true);
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("first").Take(), {{"O", {5}}});
  RequestPtr second = step("second").Take();
  ASSERT_EQ(second->inputs().size(), 1u);
  EXPECT_THAT(InputOf(second.get(), "A"), ElementsAre(5));
  FakeStep::Finish(std::move(second), {{"O", {6}}});
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
  EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(6));
}

TEST_F(LeftOutTest, AStepMissesItsRequiredInput) {
  MayLeaveOut(/*optional=*/false);
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("first").Take(), {{"O", {5}}});
  request.WaitDone();
  EXPECT_EQ(step("second").seen(), 0);
  EXPECT_EQ(
      request.final_status(),
      absl::InvalidArgumentError(
          "in ensemble 'e', [request id: <id_unknown>] expected 2 inputs but got 1 inputs for "
          "model 'second'. Got input(s) ['A'], but missing required input(s) ['B']. Please "
          "provide all required input(s). (step 1, model 'second')"));
}

TEST_F(LeftOutTest, TheAnswerIsWithoutTheOutput) {
  MayLeaveOut(/*optional=*/true, /*more=*/true);
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("first").Take(), {{"O", {5}}});
  FakeStep::Finish(step("second").Take(), {{"O", {6}}});
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
  ASSERT_EQ(request.answer(0).response->outputs().size(), 1u);
  EXPECT_EQ(request.answer(0).response->outputs()[0].name(), "o");
}

TEST_F(LeftOutTest, AllOutputsMayBeLeftOut) {
  MayLeaveOut(/*optional=*/true, /*more=*/true);
  TestRequest& request = Start({{"i", {1}}}, {"p"});
  FakeStep::Finish(step("first").Take(), {});
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
  ASSERT_EQ(request.answer_count(), 1u);
  EXPECT_TRUE(request.answer(0).response->outputs().empty());
  EXPECT_TRUE(request.answer(0).response->parameters().empty());
}

TEST_F(LeftOutTest, EachAnswerOfADecoupledStepMayLeaveOutOthers) {
  MayLeaveOut(/*optional=*/true, /*more=*/true, /*decoupled=*/true);
  TestRequest& request = Start({{"i", {1}}});
  RequestPtr first = step("first").Take();
  FakeStep::Send(first.get(), {{"O", {1}}}, 0);
  FakeStep::Send(first.get(), {{"O", {2}}, {"P", {3}}}, kResponseCompleteFinal);
  first.reset();
  ASSERT_EQ(step("second").held(), 2u);
  for (const size_t inputs : {1, 2}) {
    RequestPtr second = step("second").Take();
    EXPECT_EQ(second->inputs().size(), inputs);
    FakeStep::Finish(std::move(second), {{"O", {9}}});
  }
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
  ASSERT_EQ(request.answer_count(), 2u);
  EXPECT_EQ(request.answer(0).response->outputs().size(), 1u);
  EXPECT_EQ(request.answer(1).response->outputs().size(), 2u);
}

TEST_F(EnsembleTensorsTest, AStepThatEndsWithoutAnAnswerIsAnError) {
  Fork();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("pre").Take(), {{"O", {5}}});
  FakeStep::Finish(step("left").Take(), {{"O", {5}}});
  FakeStep::FinishEmpty(step("right").Take());
  request.WaitDone();
  EXPECT_EQ(request.final_status(),
            absl::InvalidArgumentError(
                "in ensemble 'e', [request id: <id_unknown>] unexpected deadlock, at least one "
                "output is not set while no more ensemble steps can be made: Composing models did "
                "not output tensor r"));
}

TEST_F(EnsembleTensorsTest, TheEnsembleMayReshapeItsOwnTensors) {
  for (const int32_t max_batch : {0, 4}) {
    steps_.clear();
    builder_ = ModelBuilder("e");
    spec_ = {};
    builder_.MaxBatch(max_batch);
    InputSpec input;
    input.name = "i";
    input.data_type = DataType::kInt32;
    input.dims = {kVariableDim, 4};
    input.reshape = Shape{kVariableDim, 2, 2};
    builder_.Input(input);
    OutputSpec output;
    output.name = "o";
    output.data_type = DataType::kInt32;
    output.dims = {1, kVariableDim};
    output.reshape = Shape{kVariableDim};
    builder_.Output(output);
    ModelBuilder member("m");
    member.MaxBatch(max_batch).Input("I", DataType::kInt32, {-1, 2, 2});
    member.Output("O", DataType::kInt32, {-1});
    steps_["m"] = std::make_unique<FakeStep>(member.Build());
    Step("m", {{"I", "i"}}, {{"O", "o"}});
    Build();
    const bool batched = max_batch > 0;
    TestRequest& request = NewRequest();
    request.Input("i", DataType::kInt32, batched ? Shape{2, 3, 4} : Shape{3, 4});
    ASSERT_TRUE(TryStart(&request).ok());
    RequestPtr child = step("m").Take();
    EXPECT_EQ(child->inputs()[0].shape(), batched ? Shape({2, 3, 2, 2}) : Shape({3, 2, 2}));
    FakeStep::Finish(std::move(child), {{"O", {1, 2, 3, 4}}});
    request.WaitDone();
    EXPECT_EQ(request.answer(0).response->outputs()[0].shape(),
              batched ? Shape({2, 1, 2}) : Shape({1, 4}));
    requests_.clear();
  }
}

TEST_F(EnsembleTensorsTest, BatchDimensionsAreBridged) {
  builder_.MaxBatch(4);
  Input("i");
  Output("o");
  ModelBuilder whole("whole");  // has no batch dimension: gets it as a normal one
  whole.Input("I", DataType::kInt32, {-1, -1}).Output("O", DataType::kInt32, {-1});
  steps_["whole"] = std::make_unique<FakeStep>(whole.Build());
  Step("whole", {{"I", "i"}}, {{"O", "t"}});
  Model("batched", {"I"}, {"O"}, false, 4);
  Step("batched", {{"I", "t"}}, {{"O", "o"}});
  Build();
  TestRequest& request = NewRequest();
  request.Input("i", DataType::kInt32, {2, 3});
  ASSERT_TRUE(TryStart(&request).ok());
  RequestPtr first = step("whole").Take();
  EXPECT_EQ(first->inputs()[0].shape(), Shape({2, 3}));
  EXPECT_EQ(first->batch_size(), 0u);
  FakeStep::Finish(std::move(first), {{"O", {1, 2}}});  // the shape is [2]: a leading 1 is missing
  RequestPtr second = step("batched").Take();
  EXPECT_EQ(second->inputs()[0].shape(), Shape({1, 2}));
  EXPECT_EQ(second->batch_size(), 1u);
  FakeStep::Finish(std::move(second), {{"O", {7, 8}}});
  request.WaitDone();
  EXPECT_EQ(request.answer(0).response->outputs()[0].shape(), Shape({1, 2}));
  EXPECT_EQ(request.answer(0).response->model_name(), "e");
}

}  // namespace
}  // namespace nereid
