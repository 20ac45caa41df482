// SPDX-License-Identifier: Apache-2.0
#include "infer/input_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InputRecorderTest : public ::testing::Test {
 protected:
  InputRecorderTest() { RecordWith(16); }

  void RecordWith(size_t events) {
    model_ = FakeModel::Make(
        ModelBuilder("m").Input("in", DataType::kInt8, {-1}).Input("key", DataType::kInt8, {-1}),
        Clock::Real(), events);
  }
  // A request in flight, that `recorder` has seen.
  const InferRequest& Send(InputRecorder* recorder, std::string in) {
    TestRequest& request = sent_.emplace_back(model_);
    const auto size = static_cast<int64_t>(in.size());
    request.Input("in", DataType::kInt8, {size}, std::move(in));
    request.Input("key", DataType::kInt8, {1}, "k");
    const RequestPtr& issued = in_flight_.emplace_back(request.Issue());
    recorder->Keep(*issued);
    return *issued;
  }
  void TearDown() override {
    for (RequestPtr& request : in_flight_) {
      request->RespondError(absl::InternalError("over"), FailureReason::kOther);
    }
    in_flight_.clear();
  }

  std::shared_ptr<FakeModel> model_;
  std::deque<TestRequest> sent_;
  std::deque<RequestPtr> in_flight_;
};

TEST_F(InputRecorderTest, KeepsWhatWasSent) {
  InputRecorder recorder(1, {});
  const InferRequest& request = Send(&recorder, "abcd");
  const std::vector<KeptInputs> kept = recorder.Take();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].model, model_.get());
  EXPECT_EQ(kept[0].request_start, request.request_start_ns());
  ASSERT_THAT(kept[0].inputs, SizeIs(2));
  const KeptInput& input = kept[0].inputs[0];
  EXPECT_EQ(input.name, "in");
  EXPECT_EQ(input.data_type, DataType::kInt8);
  EXPECT_THAT(input.shape, ElementsAre(4));
  EXPECT_TRUE(input.has_bytes);
  EXPECT_EQ(input.bytes, "abcd");
  EXPECT_THAT(recorder.Take(), IsEmpty());
  EXPECT_EQ(recorder.lost(), 0u);
}

TEST_F(InputRecorderTest, JoinsPiecesAndTakesAnEmptyTensor) {
  InputRecorder recorder(1, {});
  TestRequest& request = sent_.emplace_back(model_);
  InferInput* const in = request.Input("in", DataType::kInt8, {4}, "ab");
  const std::string rest = "cd";
  in->AppendBuffer({rest.data(), rest.size(), {}});
  request.Input("key", DataType::kInt8, {0}, "");
  recorder.Keep(*in_flight_.emplace_back(request.Issue()));
  const std::vector<KeptInputs> kept = recorder.Take();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].inputs[0].bytes, "abcd");
  EXPECT_TRUE(kept[0].inputs[1].has_bytes);
  EXPECT_EQ(kept[0].inputs[1].bytes, "");
}

TEST_F(InputRecorderTest, CopiesNoSecrets) {
  InputRecorder recorder(1, {"key", "other"});
  Send(&recorder, "ab");
  const std::vector<KeptInputs> kept = recorder.Take();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_TRUE(kept[0].inputs[0].has_bytes);
  EXPECT_FALSE(kept[0].inputs[1].has_bytes);
  EXPECT_EQ(kept[0].inputs[1].bytes, "");
  EXPECT_THAT(kept[0].inputs[1].shape, ElementsAre(1));
}

TEST_F(InputRecorderTest, ASampleIsNotLost) {
  InputRecorder recorder(0, {});
  Send(&recorder, "ab");
  EXPECT_THAT(recorder.Take(), IsEmpty());
  EXPECT_EQ(recorder.lost(), 0u);
}

TEST_F(InputRecorderTest, KeepsNothingOfAModelThatDoesNotRecord) {
  RecordWith(0);
  InputRecorder recorder(1, {});
  Send(&recorder, "ab");
  EXPECT_THAT(recorder.Take(), IsEmpty());
}

TEST_F(InputRecorderTest, KeepsNothingAfterItsEnd) {
  InputRecorder recorder(1, {});
  recorder.Stop();
  Send(&recorder, "ab");
  EXPECT_THAT(recorder.Take(), IsEmpty());
  EXPECT_EQ(recorder.lost(), 0u);
}

TEST_F(InputRecorderTest, WhatIsTooMuchIsCounted) {
  InputRecorder recorder(1, {});
  Send(&recorder, std::string(InputRecorder::kMostRequestBytes, 'x'));
  EXPECT_EQ(recorder.lost(), 1u);
  const std::string large(InputRecorder::kMostRequestBytes - 4096, 'x');
  for (int i = 0; i < 6; ++i) Send(&recorder, large);
  EXPECT_EQ(recorder.lost(), 3u);
  EXPECT_THAT(recorder.Take(), SizeIs(4));
  // There is room again.
  Send(&recorder, large);
  EXPECT_EQ(recorder.lost(), 3u);
  EXPECT_THAT(recorder.Take(), SizeIs(1));
}

}  // namespace
}  // namespace nereid
