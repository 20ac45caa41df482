// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <thread>

#include "backends/openvino/run_pool.h"
#include "backends/openvino/testing/loaded_model.h"

namespace nereid_backend {
namespace {

using testing::AnswerOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LoadedModel;
using testing::Numbers;
using testing::NumbersRequest;

constexpr const char* kTwoStreams = R"(,"parameters":{"NUM_STREAMS":{"string_value":"2"}})";

class InstanceTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }
};

TEST_F(InstanceTest, ABatchIsOneRun) {
  LoadedModel loaded("plus_one", testing::PlusOne({-1, 1}), Numbers(8));
  ASSERT_EQ(loaded.error, "");
  TRITONBACKEND_Request first = NumbersRequest({1});
  TRITONBACKEND_Request second = NumbersRequest({2, 3});
  loaded.Execute({&first, &second});
  EXPECT_EQ(AnswerOf(first), "2");
  EXPECT_EQ(AnswerOf(second), "3,4");
  EXPECT_EQ(first.released, 1);
  EXPECT_THAT(loaded.instance_handle.batch_sizes, ElementsAre(3));
}

TEST_F(InstanceTest, ResultsAreWrittenInPlaceAndTheirPlacesAreNotKept) {
  LoadedModel loaded("plus_one", testing::PlusOne({-1, 1}), Numbers(8));
  for (const int32_t rows : {1, 3, 2, 5, 1}) {
    TRITONBACKEND_Request alone = NumbersRequest(std::vector<int32_t>(rows, rows));
    loaded.Execute({&alone});
    EXPECT_EQ(AnswerOf(alone).substr(0, 1), std::to_string(rows + 1));
    // The outputs of two requests cannot be written into one buffer.
    TRITONBACKEND_Request first = NumbersRequest({1});
    TRITONBACKEND_Request second = NumbersRequest({2});
    loaded.Execute({&first, &second});
    EXPECT_EQ(AnswerOf(second), "3");
  }
  EXPECT_EQ(loaded.model->bound().shape_trust(), BoundModel::ShapeTrust::kConfirmed);
}

// Inputs of batches of the same size lie at the same place.
TEST_F(InstanceTest, EachRunReadsItsOwnInputs) {
  LoadedModel loaded("plus_one", testing::PlusOne({-1, 1}), Numbers(8));
  for (const int32_t k : {1, 20, 300, 4, 50}) {
    for (const int32_t more : {0, 1}) {
      TRITONBACKEND_Request first = NumbersRequest({k});
      TRITONBACKEND_Request second = NumbersRequest(std::vector<int32_t>(1 + more, k + 5));
      loaded.Execute({&first, &second});
      EXPECT_EQ(AnswerOf(first), std::to_string(k + 1));
      const std::string expected = std::to_string(k + 6);
      EXPECT_EQ(AnswerOf(second), more == 0 ? expected : expected + "," + expected);
    }
    TRITONBACKEND_Request alone = NumbersRequest({-k});
    loaded.Execute({&alone});
    EXPECT_EQ(AnswerOf(alone), std::to_string(1 - k));
  }
}

// If the run wrote in place, OpenVINO would read the input from the output's buffer and write
// nothing to it.
TEST_F(InstanceTest, AnOutputThatIsAnInput) {
  const auto x = testing::Input("X", ov::element::i32, {-1, 1});
  const auto same = std::make_shared<testing::op::Relu>(x);
  same->set_friendly_name("Y");
  const auto network = std::make_shared<ov::Model>(
      ov::ResultVector{std::make_shared<testing::op::Result>(x), testing::Output("Y", same)},
      ov::ParameterVector{x});
  LoadedModel loaded(
      "passes", network,
      R"("max_batch_size":8,"input":[{"name":"X","data_type":"TYPE_INT32","dims":[1]}],
                        "output":[{"name":"X","data_type":"TYPE_INT32","dims":[1]},
                                  {"name":"Y","data_type":"TYPE_INT32","dims":[1]}])");
  ASSERT_EQ(loaded.error, "");
  for (const int32_t value : {1, 2, 3}) {
    TRITONBACKEND_Request request = NumbersRequest({value, 7});
    request.wanted_outputs = {"X", "Y"};
    loaded.Execute({&request});
    for (const testing::SeenOutput& output : request.responses.at(0).outputs) {
      int32_t values[2] = {};
      memcpy(values, output.data.data(), sizeof(values));
      EXPECT_THAT(values, ElementsAre(value, 7)) << output.name;
    }
  }
}

TEST_F(InstanceTest, AnOutputThatIsLeftOutIsNotComputed) {
  const auto x = testing::Input("X", ov::element::i32, {-1, 1});
  const auto hidden = std::make_shared<testing::op::Negative>(x);
  const auto sum = std::make_shared<testing::op::Add>(x, testing::Number(1));
  LoadedModel loaded("hides",
                     std::make_shared<ov::Model>(ov::ResultVector{testing::Output("HIDDEN", hidden),
                                                                  testing::Output("Y", sum)},
                                                 ov::ParameterVector{x}),
                     Numbers(8));
  ASSERT_EQ(loaded.error, "");
  EXPECT_EQ(loaded.model->outputs().size(), 1u);
  TRITONBACKEND_Request request = NumbersRequest({1, 7});
  loaded.Execute({&request});
  loaded.instance.reset();
  EXPECT_EQ(AnswerOf(request), "2,8");
}

TEST_F(InstanceTest, AResultThatDoesNotFitIsAnErrorThatSaysSo) {
  LoadedModel loaded("repeated", testing::Repeated(), Numbers(8));
  ASSERT_EQ(loaded.error, "");
  TRITONBACKEND_Request fits = NumbersRequest({1});
  loaded.Execute({&fits});
  EXPECT_EQ(AnswerOf(fits), "1");
  TRITONBACKEND_Request longer = NumbersRequest({2});
  loaded.Execute({&longer});
  EXPECT_THAT(AnswerOf(longer), HasSubstr("output 'Y' has shape [2,1] for a batch of 1 rows; if"));
  TRITONBACKEND_Request shorter = NumbersRequest({0});
  loaded.model->bound().set_shape_trust(BoundModel::ShapeTrust::kConfirmed);
  loaded.Execute({&shorter});
  EXPECT_THAT(AnswerOf(shorter), HasSubstr("output 'Y' has shape [0,1] for a batch of 1 rows; if"));
  TRITONBACKEND_Request again = NumbersRequest({1});
  loaded.Execute({&again});
  EXPECT_EQ(AnswerOf(again), "1");
}

TEST_F(InstanceTest, SeveralBatchesAreUnderWay) {
  LoadedModel loaded("plus_one", testing::PlusOne({-1, 1}), Numbers(8, kTwoStreams));
  ASSERT_EQ(loaded.error, "");
  if (loaded.model->pool() == nullptr) GTEST_SKIP() << "OpenVINO has one stream on one processor";
  EXPECT_EQ(loaded.model->pool()->size(), 2u);
  std::deque<TRITONBACKEND_Request> requests;
  for (int32_t i = 0; i < 100; ++i) {
    requests.push_back(NumbersRequest({i}));
    requests.push_back(NumbersRequest({-i, i}));
    loaded.Execute({&requests[requests.size() - 2], &requests.back()});
  }
  loaded.instance.reset();  // waits for the batches in progress
  for (int32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(AnswerOf(requests[2 * i]), std::to_string(i + 1));
    EXPECT_EQ(AnswerOf(requests[2 * i + 1]), std::to_string(1 - i) + "," + std::to_string(i + 1));
    EXPECT_EQ(requests[2 * i].released, 1);
  }
  EXPECT_EQ(loaded.instance_handle.batch_sizes.size(), 100u);
}

TEST_F(InstanceTest, InstancesShareThePool) {
  LoadedModel loaded("plus_one", testing::PlusOne({-1, 1}), Numbers(8, kTwoStreams));
  if (loaded.model->pool() == nullptr) GTEST_SKIP() << "OpenVINO has one stream on one processor";
  TRITONBACKEND_ModelInstance handles[2];
  std::deque<TRITONBACKEND_Request> requests[2];
  std::thread threads[2];
  for (int t = 0; t < 2; ++t) {
    for (int32_t i = 0; i < 50; ++i) requests[t].push_back(NumbersRequest({i}));
    threads[t] = std::thread([&, t] {
      const std::unique_ptr<OpenVinoInstance> instance =
          std::move(*OpenVinoInstance::Create(&handles[t], *loaded.model));
      for (TRITONBACKEND_Request& request : requests[t]) {
        TRITONBACKEND_Request* pointer = &request;
        EXPECT_EQ(instance->Execute(&pointer, 1), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 2; ++t) {
    for (int32_t i = 0; i < 50; ++i) EXPECT_EQ(AnswerOf(requests[t][i]), std::to_string(i + 1));
    EXPECT_EQ(handles[t].batch_sizes.size(), 50u);
  }
}

TEST_F(InstanceTest, AFailureOfAnAsynchronousRunStaysInItsRequest) {
  LoadedModel loaded("repeated", testing::Repeated(), Numbers(8, kTwoStreams));
  if (loaded.model->pool() == nullptr) GTEST_SKIP() << "OpenVINO has one stream on one processor";
  std::deque<TRITONBACKEND_Request> requests;
  for (const int32_t value : {1, 2, 1, 0, 1}) {
    requests.push_back(NumbersRequest({value}));
    loaded.Execute({&requests.back()});
  }
  TRITONBACKEND_Request wrong = NumbersRequest({1});
  wrong.inputs[0].type = TRITONSERVER_TYPE_UINT32;
  loaded.Execute({&wrong});
  loaded.instance.reset();
  for (const size_t good : {0, 2, 4}) EXPECT_EQ(AnswerOf(requests[good]), "1") << good;
  EXPECT_THAT(AnswerOf(requests[1]), HasSubstr("[2,1] for a batch of 1 rows"));
  EXPECT_THAT(AnswerOf(requests[3]), HasSubstr("[0,1] for a batch of 1 rows"));
  EXPECT_THAT(AnswerOf(wrong), HasSubstr("expected INT32, got UINT32"));
}

TEST_F(InstanceTest, WhatTheRuntimeRefusesIsTold) {
  for (const char* streams : {"", kTwoStreams}) {
    LoadedModel loaded("reshaped", testing::Reshaped(), Numbers(8, streams));
    ASSERT_EQ(loaded.error, "");
    std::deque<TRITONBACKEND_Request> requests;
    for (const int32_t value : {1, 7, 1}) {
      requests.push_back(NumbersRequest({value}));
      loaded.Execute({&requests.back()});
    }
    loaded.instance.reset();
    EXPECT_EQ(AnswerOf(requests[0]), "1");
    EXPECT_THAT(AnswerOf(requests[1]), ::testing::StartsWith("openvino error: "));
    EXPECT_THAT(AnswerOf(requests[1]), ::testing::Not(HasSubstr("Exception from")));
    EXPECT_EQ(AnswerOf(requests[2]), "1");
  }
}

// A run whose result nobody waits for is stopped, and the infer request can be used again.
void CancelledRunsEnd(const std::string& streams) {
  LoadedModel loaded("slow", testing::Slow(40, 2048),
                     R"("max_batch_size":512,
                        "input":[{"name":"X","data_type":"TYPE_FP32","dims":[2048]}],
                        "output":[{"name":"Y","data_type":"TYPE_FP32","dims":[2048]}])" +
                         streams);
  ASSERT_EQ(loaded.error, "");
  const auto request = [](int64_t rows) {
    TRITONBACKEND_Request made;
    made.inputs.push_back(testing::MakeInput("X", TRITONSERVER_TYPE_FP32, {rows, 2048},
                                             std::string(static_cast<size_t>(rows) * 8192, '\0')));
    made.wanted_outputs = {"Y"};
    return made;
  };
  TRITONBACKEND_Request cancelled = request(512);
  cancelled.cancelled = true;
  loaded.Execute({&cancelled});
  TRITONBACKEND_Request good = request(1);
  loaded.Execute({&good});
  loaded.instance.reset();
  ASSERT_EQ(cancelled.responses.size(), 1u);
  ASSERT_EQ(cancelled.responses[0].errors.size(), 1u);
  EXPECT_EQ(cancelled.responses[0].errors[0].code, TRITONSERVER_ERROR_CANCELLED);
  EXPECT_THAT(cancelled.responses[0].errors[0].message, HasSubstr("nobody waits"));
  EXPECT_THAT(good.responses.at(0).errors, ElementsAre());
}

TEST_F(InstanceTest, ARunThatNobodyWaitsForEnds) { CancelledRunsEnd(""); }
TEST_F(InstanceTest, SoDoesAnAsynchronousOne) { CancelledRunsEnd(kTwoStreams); }

TEST_F(InstanceTest, ALoadFailsWithOneSentence) {
  EXPECT_EQ(LoadedModel("u4", testing::Same(ov::element::u4, {-1, 1}),
                        R"("max_batch_size":8,
                           "input":[{"name":"X","data_type":"TYPE_UINT8","dims":[1]}],
                           "output":[{"name":"X","data_type":"TYPE_UINT8","dims":[1]}])")
                .error,
            "unable to load model 'u4', input 'X' has a type in the model that can not be served "
            "(u4)");
  EXPECT_EQ(LoadedModel("fixed", testing::Accumulator(1), Numbers(8)).error,
            "unable to load model 'fixed', tensor 'X': for the model to support batching the shape "
            "should have at least 1 dimension and the first dimension must be -1; but shape "
            "expected by the model is [1,1]; set max_batch_size to 0");
}

}  // namespace
}  // namespace nereid_backend
