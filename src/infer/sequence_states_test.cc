// SPDX-License-Identifier: Apache-2.0
#include "infer/sequence_states.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

StateSpec Spec(Shape dims, DataType type = DataType::kInt32) {
  StateSpec spec;
  spec.input_name = "IN";
  spec.output_name = "OUT";
  spec.data_type = type;
  spec.dims = std::move(dims);
  return spec;
}

ModelBuilder Model(StateSpec spec, int32_t max_batch = 4) {
  ModelBuilder builder("m");
  builder.MaxBatch(max_batch).State(std::move(spec));
  return builder;
}

std::string Bytes(const InferInput& input) {
  std::string bytes;
  for (const InputBuffer& piece : input.buffers()) {
    bytes.append(static_cast<const char*>(piece.base), piece.byte_size);
  }
  return bytes;
}

// One sequence of a model, step by step, as its scheduler and its backend would treat it.
class Sequence {
 public:
  explicit Sequence(const ModelBuilder& builder)
      : model_(FakeModel::Make(builder)), states_(SequenceStates::Create(model_->config())) {}

  SequenceStates* states() { return states_.get(); }
  const CompiledModel& config() const { return model_->config(); }
  const std::shared_ptr<FakeModel>& model() { return model_; }

  // What a new request of the sequence shows to the backend.
  InferInput* Begin() {
    request_ = std::make_unique<InferRequest>(model_, 1);
    EXPECT_TRUE(states_->AttachTo(request_.get()).ok());
    EXPECT_EQ(request_->sequence_states(), states_.get());
    return request_->FindBackendInput("IN");
  }
  // Writes the next state, but does not make it the current one.
  SequenceState* Write(const Shape& shape, const std::string& bytes) {
    SequenceState* const state = *states_->NewOutput("OUT", DataType::kInt32, shape);
    void* const buffer = state->Buffer(bytes.size())->base;
    std::memcpy(buffer, bytes.data(), bytes.size());
    EXPECT_EQ(state->Attributes()->byte_size, bytes.size());
    EXPECT_EQ(state->Attributes()->memory_type, TRITONSERVER_MEMORY_CPU);
    return state;
  }

 private:
  std::shared_ptr<FakeModel> model_;
  std::unique_ptr<SequenceStates> states_;
  std::unique_ptr<InferRequest> request_;
};

TEST(SequenceStatesTest, AModelWithoutStateNeedsNone) {
  EXPECT_EQ(SequenceStates::Create(FakeModel::Make(ModelBuilder("m"))->config()), nullptr);
}

TEST(SequenceStatesTest, StartsWithZerosAndOneWhereTheDimensionVaries) {
  Sequence batched(Model(Spec({2, kVariableDim})));
  InferInput* input = batched.Begin();
  EXPECT_EQ(input->shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(input->data_type(), DataType::kInt32);
  EXPECT_EQ(Bytes(*input), std::string(8, '\0'));

  Sequence unbatched(Model(Spec({2, kVariableDim}), 0));
  EXPECT_EQ(unbatched.Begin()->shape(), (Shape{2, 1}));

  Sequence texts(Model(Spec({3}, DataType::kBytes)));
  EXPECT_EQ(Bytes(*texts.Begin()), std::string(12, '\0')) << "three empty texts";
}

TEST(SequenceStatesTest, StartsWithTheFile) {
  StateSpec spec = Spec({2});
  spec.initial = InitialState::kFile;
  spec.initial_bytes = "abcdefgh";
  Sequence sequence(Model(spec));
  EXPECT_EQ(Bytes(*sequence.Begin()), "abcdefgh");
  sequence.Write({1, 2}, "ABCDEFGH")->Update();
  EXPECT_EQ(Bytes(*sequence.Begin()), "ABCDEFGH");
  sequence.states()->Reset();
  EXPECT_EQ(Bytes(*sequence.Begin()), "abcdefgh");
}

TEST(SequenceStatesTest, TheOutputOfAStepIsTheInputOfTheNextWithoutACopy) {
  Sequence sequence(Model(Spec({kVariableDim})));
  const void* const first = sequence.Begin()->buffers()[0].base;
  SequenceState* state = sequence.Write({1, 2}, "aaaabbbb");
  const void* const second = state->Buffer(8)->base;
  EXPECT_NE(first, second);
  state->Update();
  InferInput* input = sequence.Begin();
  EXPECT_EQ(input->buffers()[0].base, second);
  EXPECT_EQ(input->shape(), (Shape{1, 2}));
  EXPECT_EQ(Bytes(*input), "aaaabbbb");
  state = sequence.Write({1, 2}, "ccccdddd");
  EXPECT_EQ(state->Buffer(8)->base, first) << "the two buffers are used in turn";
  state->Update();
  EXPECT_EQ(Bytes(*sequence.Begin()), "ccccdddd");
}

TEST(SequenceStatesTest, WithoutUpdateTheStateStays) {
  Sequence sequence(Model(Spec({1})));
  sequence.Begin();
  sequence.Write({1, 1}, "aaaa")->Update();
  sequence.Begin();
  sequence.Write({1, 1}, "bbbb");
  EXPECT_EQ(Bytes(*sequence.Begin()), "aaaa");
}

TEST(SequenceStatesTest, TheRequestStillReadsItsInputAfterTheUpdate) {
  Sequence sequence(Model(Spec({1})));
  sequence.Begin();
  sequence.Write({1, 1}, "aaaa")->Update();
  InferInput* const input = sequence.Begin();
  sequence.Write({1, 1}, "bbbb")->Update();
  EXPECT_EQ(Bytes(*input), "aaaa");
}

TEST(SequenceStatesTest, AStateWithoutBytesIsEmpty) {
  Sequence sequence(Model(Spec({kVariableDim})));
  sequence.Begin();
  (*sequence.states()->NewOutput("OUT", DataType::kInt32, {1, 0}))->Update();
  InferInput* const input = sequence.Begin();
  EXPECT_EQ(input->shape(), (Shape{1, 0}));
  EXPECT_EQ(input->byte_size(), 0u);
}

TEST(SequenceStatesTest, OneBufferForBothShowsWritesAtOnceAndKeepsThemWhenItGrows) {
  StateSpec spec = Spec({kVariableDim});
  spec.same_buffer = true;
  Sequence sequence(Model(spec));
  InferInput* input = sequence.Begin();
  sequence.Write({1, 1}, "aaaa");
  EXPECT_EQ(Bytes(*input), "aaaa") << "also without an update";
  SequenceState* const state = *sequence.states()->NewOutput("OUT", DataType::kInt32, {1, 64});
  const void* const grown = state->Buffer(256)->base;
  EXPECT_EQ(std::memcmp(grown, "aaaa", 4), 0);
  EXPECT_EQ(Bytes(*input), "aaaa") << "what the request was shown is still there";
  state->Update();
  input = sequence.Begin();
  EXPECT_EQ(input->shape(), (Shape{1, 64}));
  EXPECT_EQ(input->buffers()[0].base, grown);
}

TEST(SequenceStatesTest, NoOtherNameIsAState) {
  Sequence sequence(Model(Spec({1})));
  EXPECT_EQ(sequence.states()->NewOutput("IN", DataType::kInt32, {1}).status(),
            absl::InvalidArgumentError("state 'IN' is not a valid state name."));
}

TEST(SequenceStatesTest, WhatCannotBeHadIsAnError) {
  Sequence sequence(Model(Spec({1})));
  sequence.Begin();
  SequenceState* const state = *sequence.states()->NewOutput("OUT", DataType::kInt32, {1, 1});
  EXPECT_TRUE(absl::IsResourceExhausted(state->Buffer(UINT64_MAX).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(state->Buffer((uint64_t{1} << 40) + 1).status()));
  EXPECT_EQ(Bytes(*sequence.Begin()), std::string(4, '\0'));
}

TEST(SequenceStatesTest, AnInputThatTheRequestHasIsLeft) {
  Sequence sequence(Model(Spec({1})));
  InferRequest request(sequence.model(), 1);
  ASSERT_TRUE(request.AddInput("IN", DataType::kInt32, {1, 1}).ok());
  ASSERT_TRUE(sequence.states()->AttachTo(&request).ok());
  EXPECT_EQ(request.backend_input_count(), 1u);
}

TEST(SequenceStatesTest, ARequestThatIsExecutedAgainReadsTheNewState) {
  Sequence sequence(Model(Spec({kVariableDim})));
  InferRequest request(sequence.model(), 1);
  ASSERT_TRUE(sequence.states()->AttachTo(&request).ok());
  sequence.Write({1, 2}, "aaaabbbb")->Update();
  ASSERT_TRUE(sequence.states()->AttachTo(&request).ok());
  EXPECT_EQ(request.backend_input_count(), 1u);
  EXPECT_EQ(request.FindBackendInput("IN")->shape(), (Shape{1, 2}));
  EXPECT_EQ(Bytes(*request.FindBackendInput("IN")), "aaaabbbb");
}

TEST(SequenceStatesTest, FillersHaveStatesToThrowAwayInTheShapeOfTheBatch) {
  Sequence sequence(Model(Spec({kVariableDim})));
  InferRequest filler(sequence.model(), 1);
  ASSERT_TRUE(SequenceStates::AttachThrowaway(sequence.config(), &filler).ok());
  EXPECT_EQ(filler.FindBackendInput("IN")->shape(), (Shape{1, 1}));
  EXPECT_EQ(Bytes(*filler.FindBackendInput("IN")), std::string(4, '\0'));

  sequence.Begin();
  sequence.Write({1, 3}, "aaaabbbbcccc")->Update();
  InferRequest real(sequence.model(), 1);
  ASSERT_TRUE(sequence.states()->AttachTo(&real).ok());
  filler.ClearOverrideInputs();
  ASSERT_TRUE(SequenceStates::AttachThrowaway(sequence.config(), &filler, &real).ok());
  EXPECT_EQ(filler.FindBackendInput("IN")->shape(), (Shape{1, 3}));
  EXPECT_EQ(Bytes(*filler.FindBackendInput("IN")), std::string(12, '\0'));

  ASSERT_NE(filler.sequence_states(), nullptr);
  ASSERT_NE(filler.sequence_states(), sequence.states());
  SequenceState* const state =
      *filler.sequence_states()->NewOutput("OUT", DataType::kInt32, {1, 3});
  std::memcpy(state->Buffer(12)->base, "xxxxxxxxxxxx", 12);
  state->Update();
  EXPECT_EQ(Bytes(*sequence.Begin()), "aaaabbbbcccc");
}

TEST(SequenceStatesTest, AFillerOfAModelWithoutStateIsLeft) {
  const std::shared_ptr<FakeModel> model = FakeModel::Make(ModelBuilder("m"));
  InferRequest filler(model, 1);
  ASSERT_TRUE(SequenceStates::AttachThrowaway(model->config(), &filler).ok());
  EXPECT_EQ(filler.backend_input_count(), 0u);
  EXPECT_EQ(filler.sequence_states(), nullptr);
}

}  // namespace
}  // namespace nereid
