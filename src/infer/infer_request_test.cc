// SPDX-License-Identifier: Apache-2.0
#include "infer/infer_request.h"

#include <gtest/gtest.h>

#include <string>

#include "base/budget.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

ModelBuilder Model() {
  ModelBuilder builder("m");
  builder.Output("x", DataType::kFp32, {4}).Output("y", DataType::kFp32, {4});
  return builder;
}

class InferRequestTest : public ::testing::Test {
 protected:
  InferRequestTest() { request_->set_id("7"); }

  FakeClock clock_;
  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(Model(), &clock_);
  TestRequest request_{model_};
};

// ---- Making

TEST_F(InferRequestTest, LogPrefixNamesTheRequest) {
  EXPECT_EQ(request_->LogPrefix(), "[request id: 7] ");
  request_->set_id("");
  EXPECT_EQ(request_->LogPrefix(), "[request id: <id_unknown>] ");
}

TEST_F(InferRequestTest, AnInputIsAddedOnce) {
  ASSERT_TRUE(request_->AddInput("a", DataType::kFp32, {4}).ok());
  EXPECT_EQ(request_->AddInput("a", DataType::kInt8, {1}).status(),
            absl::InvalidArgumentError("[request id: 7] input 'a' already exists in request"));
  EXPECT_EQ(request_->inputs().size(), 1u);
}

TEST_F(InferRequestTest, ARemovedInputIsGoneAndMayComeBack) {
  ASSERT_TRUE(request_->AddInput("a", DataType::kFp32, {4}).ok());
  EXPECT_TRUE(request_->RemoveInput("a").ok());
  EXPECT_EQ(request_->FindInput("a"), nullptr);
  EXPECT_EQ(request_->RemoveInput("a"),
            absl::InvalidArgumentError("[request id: 7] input 'a' does not exist in request"));
  EXPECT_TRUE(request_->AddInput("a", DataType::kFp32, {4}).ok());
}

TEST_F(InferRequestTest, ARawInputStandsAlone) {
  ASSERT_TRUE(request_->AddInput("a", DataType::kFp32, {4}).ok());
  EXPECT_EQ(request_->AddRawInput("raw").status(),
            absl::InvalidArgumentError(
                "[request id: 7] raw input 'raw' can't be added to request with other inputs"));
  request_->RemoveAllInputs();
  EXPECT_TRUE(request_->AddRawInput("raw").ok());
}

TEST_F(InferRequestTest, AnOutputIsAskedForOnce) {
  ASSERT_TRUE(request_->AddRequestedOutput("y").ok());
  EXPECT_EQ(request_->AddRequestedOutput("y"),
            absl::InvalidArgumentError("[request id: 7] output 'y' already exists in request"));
  EXPECT_EQ(request_->asked_outputs().size(), 1u);
}

// The model has no inputs, so a new name is compared with the first one only.
TEST_F(InferRequestTest, AnInputIsComparedWithNoMoreThanTheModelHas) {
  for (const char* name : {"a", "b", "b", "c", "b"}) {
    EXPECT_TRUE(request_->AddInput(name, DataType::kFp32, {4}).ok()) << name;
  }
  EXPECT_EQ(request_->AddInput("a", DataType::kFp32, {4}).status(),
            absl::InvalidArgumentError("[request id: 7] input 'a' already exists in request"));
  EXPECT_EQ(request_->inputs().size(), 5u);
}

TEST_F(InferRequestTest, AnOutputIsComparedWithNoMoreThanTheModelHas) {
  for (const char* name : {"x", "y", "z", "p", "p"}) {
    EXPECT_TRUE(request_->AddRequestedOutput(name).ok()) << name;
  }
  EXPECT_FALSE(request_->AddRequestedOutput("z").ok());
  EXPECT_EQ(request_->asked_outputs().size(), 5u);
}

TEST_F(InferRequestTest, NoOutputAskedForMeansAll) {
  EXPECT_EQ(request_->output_count(), 2u);
  EXPECT_EQ(request_->output_name(0), "x");
  EXPECT_EQ(request_->output_name(1), "y");
  EXPECT_TRUE(request_->WantsOutput("x"));
  ASSERT_TRUE(request_->AddRequestedOutput("y").ok());
  EXPECT_EQ(request_->output_count(), 1u);
  EXPECT_EQ(request_->output_name(0), "y");
  EXPECT_FALSE(request_->WantsOutput("x"));
  EXPECT_TRUE(request_->WantsOutput("y"));
  request_->RemoveRequestedOutput("y");
  EXPECT_EQ(request_->output_count(), 2u);
}

// ---- Flight

TEST_F(InferRequestTest, IssueNotesTheTimes) {
  RequestPtr owned = request_.Issue();
  EXPECT_EQ(owned->request_start_ns(), ToNanos(clock_.Now()));
  EXPECT_EQ(owned->queue_start_ns(), 0u);
  EXPECT_NE(owned->stream(), nullptr);
  owned->RespondError(absl::InternalError("end"), FailureReason::kOther);
}

TEST_F(InferRequestTest, ReleaseGoesBackToTheMakerOnceWithItsFlags) {
  RequestPtr owned = request_.Issue();
  owned->RespondError(absl::InternalError("end"), FailureReason::kOther);
  owned.reset();
  EXPECT_EQ(request_.releases(), 1);
  EXPECT_EQ(request_.release_flags(), kRequestReleaseAll);
  EXPECT_EQ(request_->lifecycle().state(), RequestState::kReleased);
  EXPECT_EQ(request_->stream(), nullptr);
}

TEST_F(InferRequestTest, ReleaseOfAQueuedRequestLeavesTheQueue) {
  RequestPtr owned = request_.Issue();
  EXPECT_EQ(model_->statistics().Snapshot().pending, 1);
  owned.reset();
  EXPECT_EQ(model_->statistics().Snapshot().pending, 0);
}

TEST_F(InferRequestTest, ReleaseOfAnExecutingRequestLeavesThePendingCountAlone) {
  RequestPtr owned = request_.Issue();
  ASSERT_TRUE(owned->lifecycle().MoveTo(RequestState::kExecuting, "").ok());
  owned.reset();
  EXPECT_EQ(model_->statistics().Snapshot().pending, 1) << "whoever executes counts it down";
}

TEST_F(InferRequestTest, ReleaseGivesTheUnitsBack) {
  Budget budget("bytes", 100);
  request_->set_units(*budget.Take(60));
  RequestPtr owned = request_.Issue();
  EXPECT_EQ(budget.used(), 60u);
  owned.reset();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(InferRequestTest, RespondErrorAnswersAndCounts) {
  RequestPtr owned = request_.Issue();
  clock_.Advance(std::chrono::microseconds(5));
  owned->RespondError(absl::UnavailableError("late"), FailureReason::kRejected);
  EXPECT_EQ(request_.final_status(), absl::UnavailableError("late"));
  EXPECT_EQ(request_.releases(), 0) << "answering is not releasing";
  const StatisticsSnapshot statistics = model_->statistics().Snapshot();
  EXPECT_EQ(statistics.fail.count, 1u);
  EXPECT_EQ(statistics.fail.ns, 5'000u);
  EXPECT_EQ(statistics.failures[static_cast<size_t>(FailureReason::kRejected)], 1u);
}

TEST_F(InferRequestTest, MayBeIssuedAnew) {
  for (int round = 1; round <= 3; ++round) {
    RequestPtr owned = request_.Issue();
    EXPECT_TRUE(owned->stream()->Send(nullptr, kResponseCompleteFinal).ok());
    owned.reset();
    EXPECT_EQ(request_.releases(), round);
    EXPECT_EQ(request_.answer_count(), static_cast<size_t>(round));
  }
}

TEST_F(InferRequestTest, AnAbortedFlightLeavesNoTrace) {
  request_.TakeBack(request_.Issue());
  EXPECT_EQ(request_.answer_count(), 0u);
  EXPECT_EQ(request_.releases(), 0);
  EXPECT_EQ(model_->lifetime().inside(), 0);
  EXPECT_FALSE(request_->Cancel().ok()) << "it is as if it had never been issued";
  RequestPtr again = request_.Issue();
  again->RespondError(absl::InternalError("end"), FailureReason::kOther);
}

// ---- What only the backend sees

InferInput Control(absl::string_view name, uint64_t byte_size) {
  InferInput input(std::string(name), DataType::kInt32, {1});
  input.set_shape({1});
  static const char kZeros[8] = {};
  input.AppendBuffer({kZeros, byte_size, MemoryPlace{}});
  return input;
}

TEST_F(InferRequestTest, OverrideInputsComeAfterTheOwnAndOnlyForTheBackend) {
  ASSERT_TRUE(request_->AddInput("a", DataType::kFp32, {4}).ok());
  request_->AddOverrideInput(Control("START", 4));
  request_->AddOverrideInput(Control("END", 4));
  EXPECT_EQ(request_->inputs().size(), 1u);
  EXPECT_EQ(request_->FindInput("START"), nullptr);
  ASSERT_EQ(request_->backend_input_count(), 3u);
  EXPECT_EQ(request_->backend_input(0).name(), "a");
  EXPECT_EQ(request_->backend_input(2).name(), "END");
  EXPECT_EQ(request_->FindBackendInput("START"), &request_->backend_input(1));
  EXPECT_EQ(request_->FindBackendInput("a"), request_->FindInput("a"));
  EXPECT_EQ(request_->FindBackendInput("b"), nullptr);
}

TEST_F(InferRequestTest, AnOverrideInputReplacesTheOneOfItsName) {
  request_->AddOverrideInput(Control("START", 4));
  request_->AddOverrideInput(Control("START", 8));
  ASSERT_EQ(request_->backend_input_count(), 1u);
  EXPECT_EQ(request_->FindBackendInput("START")->byte_size(), 8u);
}

TEST_F(InferRequestTest, OverrideInputsGoWithTheFlight) {
  RequestPtr owned = request_.Issue();
  owned->AddOverrideInput(Control("START", 4));
  owned->RespondError(absl::InternalError("end"), FailureReason::kOther);
  owned.reset();
  EXPECT_EQ(request_->backend_input_count(), 0u);
  owned = request_.Issue();
  owned->AddOverrideInput(Control("START", 4));
  request_.TakeBack(std::move(owned));
  EXPECT_EQ(request_->backend_input_count(), 0u);
}

// ---- Lifetime of the model

TEST_F(InferRequestTest, AFlightHoldsAPassOfTheModelUntilItsStreamIsGone) {
  RequestPtr owned = request_.Issue();
  std::shared_ptr<ResponseStream> factory = owned->stream();
  owned.reset();
  EXPECT_EQ(model_->lifetime().inside(), 1) << "a response factory keeps the model's backend";
  factory.reset();
  EXPECT_EQ(model_->lifetime().inside(), 0);
}

// ---- Cancel

TEST_F(InferRequestTest, CancelBeforeIssueIsAnError) {
  EXPECT_EQ(request_->Cancel(),
            absl::InternalError("It is not possible to cancel an inference request before calling "
                                "TRITONSERVER_InferAsync."));
  EXPECT_EQ(request_->IsCancelled().status(),
            absl::InternalError("It is not possible to query cancellation status before calling "
                                "TRITONSERVER_InferAsync."));
}

TEST_F(InferRequestTest, CancelMarksTheStreamAndTellsTheModel) {
  RequestPtr owned = request_.Issue();
  EXPECT_FALSE(*request_->IsCancelled());
  ASSERT_TRUE(request_->Cancel().ok());
  EXPECT_TRUE(*request_->IsCancelled());
  EXPECT_TRUE(owned->stream()->IsCancelled());
  EXPECT_EQ(model_->cancels(), 1);
}

TEST_F(InferRequestTest, CancelAfterTheFlightHasNoEffect) {
  request_.Issue().reset();
  EXPECT_TRUE(request_->Cancel().ok());
  EXPECT_FALSE(*request_->IsCancelled());
  EXPECT_EQ(model_->cancels(), 0);
}

TEST_F(InferRequestTest, ANewFlightIsNotCancelled) {
  RequestPtr owned = request_.Issue();
  ASSERT_TRUE(request_->Cancel().ok());
  owned.reset();
  owned = request_.Issue();
  EXPECT_FALSE(*request_->IsCancelled());
}

// ---- LentBatch

TEST(LentBatchTest, EachSlotIsClaimedOnce) {
  LentBatch batch(2);
  EXPECT_TRUE(batch.Claim(0));
  EXPECT_FALSE(batch.Claim(0));
  EXPECT_TRUE(batch.Claim(1));
  EXPECT_FALSE(batch.Claim(1));
}

}  // namespace
}  // namespace nereid
