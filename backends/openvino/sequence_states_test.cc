// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/sequence_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/openvino/testing/loaded_model.h"

namespace nereid_backend {
namespace {

using testing::AnswerOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LoadedModel;
using testing::Numbers;
using testing::NumbersRequest;

constexpr uint32_t kStart = TRITONSERVER_REQUEST_FLAG_SEQUENCE_START;
constexpr uint32_t kEnd = TRITONSERVER_REQUEST_FLAG_SEQUENCE_END;
constexpr const char* kSequences = R"(,"sequence_batching":{"oldest":{}})";

TRITONBACKEND_Request Step(uint64_t sequence, std::vector<int32_t> rows, uint32_t flags = 0) {
  TRITONBACKEND_Request request = NumbersRequest(rows);
  request.correlation_id = sequence;
  request.flags = flags;
  return request;
}

// Answers of one batch.
std::vector<std::string> Execute(LoadedModel* loaded, std::vector<TRITONBACKEND_Request> requests) {
  std::vector<TRITONBACKEND_Request*> pointers;
  for (TRITONBACKEND_Request& request : requests) pointers.push_back(&request);
  loaded->Execute(pointers);
  std::vector<std::string> answers;
  for (const TRITONBACKEND_Request& request : requests) answers.push_back(AnswerOf(request));
  return answers;
}

class SequenceStatesTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }
};

TEST_F(SequenceStatesTest, EachSequenceHasItsOwn) {
  LoadedModel loaded("sums", testing::Accumulator(-1), Numbers(8, kSequences));
  ASSERT_EQ(loaded.error, "");
  EXPECT_THAT(Execute(&loaded, {Step(1, {1}, kStart), Step(2, {2}, kStart)}),
              ElementsAre("101", "102"));
  EXPECT_THAT(loaded.instance_handle.batch_sizes, ElementsAre(2));
  EXPECT_THAT(Execute(&loaded, {Step(2, {10}), Step(1, {20})}), ElementsAre("112", "121"));
  // Some sequences start, some continue, and one has two requests in the batch.
  EXPECT_THAT(Execute(&loaded, {Step(1, {1}), Step(3, {7}, kStart), Step(2, {1}), Step(1, {1})}),
              ElementsAre("122", "107", "113", "123"));
  EXPECT_THAT(Execute(&loaded, {Step(1, {5}, kStart)}), ElementsAre("105"))
      << "a start begins anew";
}

// The runtime's own reset would keep the shape of the previous state.
TEST_F(SequenceStatesTest, ABeginningAfterMoreRows) {
  LoadedModel loaded("sums", testing::Accumulator(-1), Numbers(8, kSequences));
  const auto start = [](uint64_t sequence) { return Step(sequence, {1}, kStart); };
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(Execute(&loaded, {start(1)}), ElementsAre("101"));
    EXPECT_THAT(Execute(&loaded, {start(2), start(3)}), ElementsAre("101", "101"));
    EXPECT_THAT(Execute(&loaded, {Step(1, {1}), Step(2, {1}), Step(3, {1})}),
                ElementsAre("102", "102", "102"));
  }
}

TEST_F(SequenceStatesTest, AStateWithoutInitialValueBeginsWithZeros) {
  for (const bool batching : {true, false}) {
    const ov::PartialShape shape = {batching ? ov::Dimension::dynamic() : 1, 1};
    const auto x = testing::Input("X", ov::element::i32, {-1, 1});
    const auto variable = std::make_shared<ov::op::util::Variable>(
        ov::op::util::VariableInfo{shape, ov::element::i32, "SUM"});
    const auto sum =
        std::make_shared<testing::op::Add>(x, std::make_shared<testing::op::ReadValue>(variable));
    const auto network = std::make_shared<ov::Model>(
        ov::ResultVector{testing::Output("Y", sum)},
        ov::SinkVector{std::make_shared<testing::op::Assign>(sum, variable)},
        ov::ParameterVector{x});
    LoadedModel loaded("zeros", network,
                       batching ? Numbers(8, kSequences)
                                : R"("input":[{"name":"X","data_type":"TYPE_INT32","dims":[-1,1]}],
                                     "output":[{"name":"Y","data_type":"TYPE_INT32","dims":[-1,1]}],
                                     "sequence_batching":{})");
    ASSERT_EQ(loaded.error, "");
    EXPECT_THAT(Execute(&loaded, {Step(1, {5}, kStart)}), ElementsAre("5"));
    EXPECT_THAT(Execute(&loaded, {Step(1, {6})}), ElementsAre("11"));
  }
}

TEST_F(SequenceStatesTest, AnEndDropsTheState) {
  LoadedModel loaded("sums", testing::Accumulator(-1), Numbers(8, kSequences));
  Execute(&loaded, {Step(1, {1}, kStart)});
  EXPECT_THAT(Execute(&loaded, {Step(1, {1}, kEnd)}), ElementsAre("102"));
  EXPECT_THAT(Execute(&loaded, {Step(1, {1})}),
              ElementsAre(HasSubstr("the state of sequence 1 is not held")));
  EXPECT_THAT(Execute(&loaded, {Step(1, {3}, kStart | kEnd)}), ElementsAre("103"));
}

TEST_F(SequenceStatesTest, NamesAreSequencesToo) {
  LoadedModel loaded("sums", testing::Accumulator(-1), Numbers(8, kSequences));
  TRITONBACKEND_Request first = Step(0, {1}, kStart);
  first.correlation_name = "5";
  TRITONBACKEND_Request second = Step(0, {1});
  second.correlation_name = "5";
  Execute(&loaded, {Step(5, {50}, kStart)});
  EXPECT_THAT(Execute(&loaded, {first}), ElementsAre("101"));
  EXPECT_THAT(Execute(&loaded, {second}), ElementsAre("102"))
      << "not the sequence with the number 5";
}

TEST_F(SequenceStatesTest, RowsOfASequenceStayTogether) {
  LoadedModel loaded("sums", testing::Accumulator(-1), Numbers(8, kSequences));
  EXPECT_THAT(Execute(&loaded, {Step(1, {1, 2}, kStart), Step(2, {3}, kStart)}),
              ElementsAre("101,102", "103"));
  EXPECT_THAT(Execute(&loaded, {Step(2, {1}), Step(1, {1, 1})}), ElementsAre("104", "102,103"));
  EXPECT_THAT(Execute(&loaded, {Step(1, {1})}),
              ElementsAre("sequence 1 has a state of 2 rows, but its request has 1"));
  EXPECT_THAT(Execute(&loaded, {Step(1, {0, 0})}), ElementsAre("102,103")) << "it is still there";
}

TEST_F(SequenceStatesTest, WithoutBatching) {
  LoadedModel loaded("sums", testing::Accumulator(1),
                     R"("input":[{"name":"X","data_type":"TYPE_INT32","dims":[1,1]}],
         "output":[{"name":"Y","data_type":"TYPE_INT32","dims":[1,1]}])" +
                         std::string(kSequences));
  ASSERT_EQ(loaded.error, "");
  EXPECT_THAT(Execute(&loaded, {Step(1, {1}, kStart)}), ElementsAre("101"));
  EXPECT_THAT(Execute(&loaded, {Step(2, {9}, kStart)}), ElementsAre("109"));
  EXPECT_THAT(Execute(&loaded, {Step(1, {1})}), ElementsAre("102"));
  EXPECT_THAT(Execute(&loaded, {Step(2, {1})}), ElementsAre("110"));
}

TEST_F(SequenceStatesTest, WithoutSequencesEachRequestStandsAlone) {
  LoadedModel loaded("sums", testing::Accumulator(-1), Numbers(8));
  EXPECT_THAT(Execute(&loaded, {Step(0, {1}), Step(0, {2})}), ElementsAre("101", "102"));
  EXPECT_THAT(Execute(&loaded, {Step(0, {1})}), ElementsAre("101"));
}

TEST_F(SequenceStatesTest, TheLongestIdleOneGoesFirst) {
  LoadedModel loaded(
      "sums", testing::Accumulator(-1),
      Numbers(8, std::string(kSequences) +
                     R"(,"parameters":{"MAX_SEQUENCE_STATES":{"string_value":"2"}})"));
  Execute(&loaded, {Step(1, {1}, kStart)});
  Execute(&loaded, {Step(2, {1}, kStart)});
  Execute(&loaded, {Step(1, {1})});
  Execute(&loaded, {Step(3, {1}, kStart)});
  EXPECT_THAT(Execute(&loaded, {Step(2, {1})}),
              ElementsAre("the state of sequence 2 is not held: an instance holds 2 (parameter "
                          "MAX_SEQUENCE_STATES), and the longest idle one goes first"));
  EXPECT_THAT(Execute(&loaded, {Step(1, {1}), Step(3, {1})}), ElementsAre("103", "102"));
}

uint64_t g_now_ns = 0;

TEST_F(SequenceStatesTest, WhatTheServerHasEndedIsDropped) {
  LoadedModel loaded("sums", testing::Accumulator(-1), Numbers(8, kSequences));
  ov::InferRequest infer = loaded.model->NewInferRequest();
  SequenceStates::Limits limits;
  limits.sequences = true;
  limits.batching = true;
  limits.idle_ns = 1000;
  SequenceStates states(limits, loaded.model->initial_states(), [] { return g_now_ns; });
  const size_t group[] = {0};
  const auto step = [&](uint64_t sequence, uint64_t now) {
    g_now_ns = now;
    TRITONBACKEND_Request request = Step(sequence, {1}, kStart);
    TRITONBACKEND_Request* pointer = &request;
    Batch batch(&loaded.instance_handle, &pointer, 1);
    states.Begin(batch);
    const size_t held = states.held();
    int32_t one = 1;
    infer.set_input_tensor(0, ov::Tensor(ov::element::i32, ov::Shape{1, 1}, &one));
    EXPECT_TRUE(states.Load(batch, group, &infer).ok());
    infer.infer();
    EXPECT_TRUE(states.Save(batch, group, &infer).ok());
    batch.Finish();
    return held;
  };
  EXPECT_EQ(step(1, 0), 0u);
  EXPECT_EQ(step(2, 1500), 1u);
  EXPECT_EQ(step(3, 2000), 2u) << "up to twice the time";
  EXPECT_EQ(step(4, 2001), 2u) << "the first has gone";
  EXPECT_EQ(step(5, 9000), 0u);
}

}  // namespace
}  // namespace nereid_backend
