// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/fixed_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "backends/openvino/run.h"
#include "backends/openvino/testing/loaded_model.h"

namespace nereid_backend {
namespace {

using testing::AnswerOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LoadedModel;
using testing::Numbers;
using testing::NumbersRequest;

std::string Parameter(const std::string& name, const std::string& value) {
  return ",\"parameters\":{\"" + name + "\":{\"string_value\":\"" + value + "\"}}";
}

std::vector<int64_t> SizesOf(const LoadedModel& loaded) {
  EXPECT_EQ(loaded.error, "");
  std::vector<int64_t> sizes;
  if (loaded.model == nullptr) return sizes;
  for (const FixedBatch& batch : loaded.model->fixed_batches()) sizes.push_back(batch.rows);
  return sizes;
}

std::vector<int64_t> SizesOf(const std::shared_ptr<ov::Model>& network, const std::string& config) {
  return SizesOf(LoadedModel("fixed", network, config));
}

// Y = X + 1 with `bytes` of weights that are added, too, all of them zero.
std::shared_ptr<ov::Model> WithWeights(size_t bytes) {
  const auto x = testing::Input("X", ov::element::i32, {-1, 1});
  const auto weights = testing::op::Constant::create(ov::element::i32, ov::Shape{bytes / 4},
                                                     std::vector<int32_t>(bytes / 4, 0));
  const auto sum = std::make_shared<testing::op::ReduceMax>(weights, testing::Row(0), true);
  const auto y = std::make_shared<testing::op::Add>(
      std::make_shared<testing::op::Add>(x, testing::Number(1)), sum);
  return std::make_shared<ov::Model>(ov::OutputVector{testing::Output("Y", y)->output(0)},
                                     ov::ParameterVector{x});
}

TEST(FixedBatchesTest, OneRowAndTheMostByDefault) {
  EXPECT_THAT(SizesOf(testing::PlusOne({-1, 1}), Numbers(8)), ElementsAre(1, 8));
  EXPECT_THAT(SizesOf(testing::PlusOne({-1, 1}), Numbers(1)), ElementsAre(1));
}

TEST(FixedBatchesTest, TheConfigurationChooses) {
  const auto sizes = [](const std::string& value) {
    return SizesOf(testing::PlusOne({-1, 1}), Numbers(8, Parameter("FIXED_BATCH_SIZES", value)));
  };
  EXPECT_THAT(sizes("4,2,4"), ElementsAre(2, 4));
  EXPECT_THAT(sizes("NONE"), IsEmpty());
  EXPECT_THAT(sizes("AUTO"), ElementsAre(1, 8));
  const LoadedModel beyond("fixed", testing::PlusOne({-1, 1}),
                           Numbers(8, Parameter("FIXED_BATCH_SIZES", "4,9")));
  EXPECT_EQ(beyond.error,
            "unable to load model 'fixed': parameter 'FIXED_BATCH_SIZES' asks for 9, but "
            "max_batch_size is 8");
}

TEST(FixedBatchesTest, NoneForThoseThatCannot) {
  EXPECT_THAT(SizesOf(testing::PlusOne({1}), Numbers(0)), IsEmpty()) << "does not batch";
  EXPECT_THAT(SizesOf(testing::PlusOne({-1, -1}), Numbers(8)), IsEmpty()) << "other dimensions";
  EXPECT_THAT(SizesOf(testing::PlusOne({-1, 1}), Numbers(8, Parameter("NUM_STREAMS", "2"))),
              IsEmpty());
  EXPECT_THAT(SizesOf(testing::Accumulator(-1), Numbers(8, ",\"sequence_batching\":{}")), IsEmpty())
      << "states";
}

TEST(FixedBatchesTest, LargeWeightsAreCopiedOnlyIfAskedFor) {
  EXPECT_THAT(SizesOf(WithWeights(1 << 20), Numbers(8)), ElementsAre(1, 8));
  EXPECT_THAT(SizesOf(WithWeights(33 << 20), Numbers(8)), IsEmpty());
  EXPECT_THAT(SizesOf(WithWeights(33 << 20), Numbers(8, Parameter("FIXED_BATCH_SIZES", "8"))),
              ElementsAre(8));
}

// The graph that a run of `rows` rows takes.
ov::PartialShape ShapeThatRuns(const LoadedModel& loaded, const std::vector<int32_t>& rows) {
  Run run(*loaded.model);
  ov::PartialShape shape;
  TRITONBACKEND_ModelInstance handle;
  TRITONBACKEND_Request request = NumbersRequest(rows);
  TRITONBACKEND_Request* requests[] = {&request};
  EXPECT_EQ(RunBatch(&handle, requests, 1,
                     [&](Batch& batch) {
                       run.executor().Begin(&batch);
                       EXPECT_TRUE(run.executor().Next());
                       run.SetTensors();
                       shape = run.request().get_compiled_model().input().get_partial_shape();
                       run.executor().End(Error::Internal("enough"));
                       return Error();
                     }),
            nullptr);
  return shape;
}

TEST(FixedBatchesTest, ARunTakesTheGraphOfItsSize) {
  const LoadedModel loaded("fixed", testing::PlusOne({-1, 1}), Numbers(4));
  EXPECT_EQ(ShapeThatRuns(loaded, {1}), ov::PartialShape({1, 1}));
  EXPECT_EQ(ShapeThatRuns(loaded, {1, 2}), ov::PartialShape({-1, 1}));
  EXPECT_EQ(ShapeThatRuns(loaded, {1, 2, 3, 4}), ov::PartialShape({4, 1}));
  EXPECT_EQ(ShapeThatRuns(loaded, {}), ov::PartialShape({-1, 1}));
}

TEST(FixedBatchesTest, BatchesOfAllSizesInTurnAreAnsweredRight) {
  LoadedModel loaded("fixed", testing::PlusOne({-1, 1}), Numbers(4));
  for (int32_t k = 0; k < 20; ++k) {
    const int32_t rows = 1 + k % 4;
    TRITONBACKEND_Request alone = NumbersRequest(std::vector<int32_t>(rows, k));
    loaded.Execute({&alone});
    std::string expected = std::to_string(k + 1);
    for (int32_t i = 1; i < rows; ++i) expected += "," + std::to_string(k + 1);
    EXPECT_EQ(AnswerOf(alone), expected);
    TRITONBACKEND_Request first = NumbersRequest({k});
    TRITONBACKEND_Request second = NumbersRequest(std::vector<int32_t>(1 + k % 3, -k));
    loaded.Execute({&first, &second});
    EXPECT_EQ(AnswerOf(first), std::to_string(k + 1));
    EXPECT_EQ(AnswerOf(second).substr(0, std::to_string(1 - k).size()), std::to_string(1 - k));
  }
}

TEST(FixedBatchesTest, RunsTakeTurnsWhereThereAreSeveralGraphs) {
  LoadedModel one("one", testing::PlusOne({-1, 1}),
                  Numbers(4, Parameter("FIXED_BATCH_SIZES", "NONE")));
  EXPECT_FALSE(one.model->TakeTurn().owns_lock()) << "OpenVINO sees to it";
  LoadedModel several("several", testing::PlusOne({-1, 1}), Numbers(4));
  TRITONBACKEND_Request request = NumbersRequest({1, 2});
  several.Execute({&request});
  std::unique_lock<std::mutex> turn = several.model->TakeTurn();
  EXPECT_TRUE(turn.owns_lock()) << "the run has ended its turn";
  // Another run waits for this turn to end.
  TRITONBACKEND_Request next = NumbersRequest({3});
  std::atomic<bool> done = false;
  std::thread runs([&] {
    several.Execute({&next});
    done = true;
  });
  // A run that did not wait would be done before hundreds of others.
  for (int32_t i = 0; i < 500; ++i) {
    TRITONBACKEND_Request other = NumbersRequest({i});
    one.Execute({&other});
  }
  EXPECT_FALSE(done);
  turn.unlock();
  runs.join();
  EXPECT_EQ(AnswerOf(next), "4");
}

}  // namespace
}  // namespace nereid_backend
