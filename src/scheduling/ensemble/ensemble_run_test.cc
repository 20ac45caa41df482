// SPDX-License-Identifier: Apache-2.0
// Requests to ensembles, from Enqueue to the last release.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <tuple>

#include "infer/infer_request.h"
#include "infer/inline_turn.h"
#include "observe/metrics/model_metrics.h"
#include "scheduling/testing/ensemble_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EnsembleRunTest : public EnsembleFixture {};

TEST_F(EnsembleRunTest, TensorsGoFromStepToStepWithoutACopy) {
  Chain();
  TestRequest& request = Start({{"i", {1, 2}}});
  RequestPtr first = step("first").Take();
  EXPECT_EQ(first->inputs()[0].buffers()[0].base, request->inputs()[0].buffers()[0].base);
  FakeStep::Finish(std::move(first), {{"O", {10, 20, 30, 40, 50, 60, 70, 80}}});
  EXPECT_EQ(request.answer_count(), 0u);
  EXPECT_EQ(request.releases(), 0);
  RequestPtr second = step("second").Take();
  EXPECT_THAT(InputOf(second.get(), "I"), ElementsAre(10, 20, 30, 40, 50, 60, 70, 80));
  // The tensor is where the heap allocator has put it: on a boundary of 64 bytes.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second->inputs()[0].buffers()[0].base) % 64, 0u);
  FakeStep::Finish(std::move(second), {{"O", {7}}});
  request.WaitDone();
  ASSERT_EQ(request.answer_count(), 1u);
  EXPECT_TRUE(request.answer(0).is_final());
  EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(7));
  EXPECT_EQ(request.answer(0).response->outputs()[0].shape(), Shape({1}));
  EXPECT_EQ(request.releases(), 1);
}

TEST_F(EnsembleRunTest, TensorsAreFreedAfterTheirLastUse) {
  constexpr size_t kSteps = 10, kCount = 1000;
  Input("t0");
  Output("t10");
  for (size_t i = 0; i < kSteps; ++i) {
    Step(absl::StrCat("s", i), absl::StrCat("t", i), absl::StrCat("t", i + 1));
  }
  Build();
  TestRequest& request = Start({{"t0", {1}}});
  for (size_t i = 0; i < kSteps; ++i) {
    FakeStep::Finish(step(absl::StrCat("s", i)).Take(), {{"O", Ints(kCount, 1)}});
  }
  request.WaitDone();
  // Never more than one step's input and output.
  EXPECT_EQ(scheduler_->peak_bytes(), 2 * kCount * sizeof(int32_t));
  ModelMetrics page;
  page.BeginVersion("e", 1);
  scheduler_->DescribeMetrics(&page);
  EXPECT_THAT(page.Text(),
              HasSubstr(absl::StrCat("# TYPE nereid_ensemble_peak_bytes gauge\n"
                                     "nereid_ensemble_peak_bytes{model=\"e\",version=\"1\"} ",
                                     scheduler_->peak_bytes(), "\n")));
}

TEST_F(EnsembleRunTest, BranchesRunAtTheSameTime) {
  Fork();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("pre").Take(), {{"O", {5}}});
  RequestPtr left = step("left").Take();
  RequestPtr right = step("right").Take();
  EXPECT_EQ(left->inputs()[0].buffers()[0].base, right->inputs()[0].buffers()[0].base);
  FakeStep::Finish(std::move(right), {{"O", {2}}});
  EXPECT_EQ(request.answer_count(), 0u);
  FakeStep::Finish(std::move(left), {{"O", {1}}});
  request.WaitDone();
  EXPECT_THAT(OutputOf(*request.answer(0).response, "l"), ElementsAre(1));
  EXPECT_THAT(OutputOf(*request.answer(0).response, "r"), ElementsAre(2));
}

TEST_F(EnsembleRunTest, OnlyWantedOutputsAreComputed) {
  Fork();
  TestRequest& request = Start({{"i", {1}}}, {"r"});
  FakeStep::Finish(step("pre").Take(), {{"O", {5}}});
  EXPECT_EQ(step("left").seen(), 0);
  FakeStep::Finish(step("right").Take(), {{"O", {2}}});
  request.WaitDone();
  ASSERT_EQ(request.answer(0).response->outputs().size(), 1u);
  EXPECT_THAT(OutputOf(*request.answer(0).response, "r"), ElementsAre(2));
}

TEST_F(EnsembleRunTest, StepsAreAskedForWhatIsUsed) {
  Input("i");
  Output("o");
  Model("m", {"I"}, {"O", "unmapped"});
  Step("m", {{"I", "i"}}, {{"O", "o"}});
  Build();
  TestRequest& request = Start({{"i", {1}}});
  RequestPtr child = step("m").Take();
  EXPECT_THAT(child->asked_outputs(), ElementsAre("O"));
  FakeStep::Finish(std::move(child), {{"O", {2}}});
  request.WaitDone();
}

TEST_F(EnsembleRunTest, AnErrorNamesItsStepAndStopsTheRest) {
  Fork();
  step("left").DropCancelledRequests();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("pre").Take(), {{"O", {5}}});
  EXPECT_EQ(step("left").held(), 1u);
  FakeStep::FinishWithError(step("right").Take(), absl::UnavailableError("no more"));
  request.WaitDone();
  EXPECT_EQ(step("left").model()->cancels(), 1);
  ASSERT_EQ(request.answer_count(), 1u);
  EXPECT_EQ(request.final_status(),
            absl::UnavailableError("in ensemble 'e', no more (step 2, model 'right')"));
  const StatisticsSnapshot statistics = ensemble_->statistics().Snapshot();
  EXPECT_EQ(statistics.fail.count, 1u);
  EXPECT_EQ(statistics.failures[static_cast<size_t>(FailureReason::kOther)], 1u);
  EXPECT_EQ(statistics.success.count, 0u);
}

TEST_F(EnsembleRunTest, TheFirstErrorWinsAndComesWhenNothingRuns) {
  Fork();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("pre").Take(), {{"O", {5}}});
  FakeStep::FinishWithError(step("right").Take(), absl::InternalError("first"));
  EXPECT_EQ(request.answer_count(), 0u);  // "left" still runs, although it was cancelled
  FakeStep::FinishWithError(step("left").Take(), absl::InternalError("second"));
  request.WaitDone();
  EXPECT_THAT(request.final_status().message(), HasSubstr("first"));
}

TEST_F(EnsembleRunTest, NothingStartsAfterAnError) {
  Chain();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::FinishWithError(step("first").Take(), absl::InternalError("broken"));
  request.WaitDone();
  EXPECT_EQ(step("second").seen(), 0);
  EXPECT_EQ(request.final_status().message(), "in ensemble 'e', broken (step 0, model 'first')");
}

TEST_F(EnsembleRunTest, AStepThatIsRefusedFailsTheRequestOnce) {
  Fork();
  step("left").Refuse(absl::UnavailableError("Exceeds maximum queue size"));
  step("right").DropCancelledRequests();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("pre").Take(), {{"O", {5}}});
  request.WaitDone();
  EXPECT_EQ(request.answer_count(), 1u);
  EXPECT_EQ(
      request.final_status(),
      absl::UnavailableError("in ensemble 'e', Exceeds maximum queue size (step 1, model 'left')"));
  EXPECT_EQ(step("right").held(), 0u);
}

TEST_F(EnsembleRunTest, AStepWhoseTensorsDoNotFitFails) {
  Chain();
  TestRequest& request = Start({{"i", {1}}});
  RequestPtr first = step("first").Take();
  std::unique_ptr<InferResponse> response = first->stream()->NewResponse();
  ASSERT_TRUE(response->AddOutput("O", DataType::kFp32, {0}).ok());
  const std::shared_ptr<ResponseStream> stream = first->stream();
  ASSERT_TRUE(stream->Send(std::move(response), kResponseCompleteFinal).ok());
  first.reset();
  request.WaitDone();
  EXPECT_THAT(request.final_status().message(),
              HasSubstr("inference input 'I' data-type is 'FP32', but model 'second' expects "
                        "'INT32' (step 1, model 'second')"));
  EXPECT_EQ(step("second").seen(), 0);
}

TEST_F(EnsembleRunTest, CancellationReachesTheSteps) {
  Fork();
  step("left").DropCancelledRequests();
  step("right").DropCancelledRequests();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("pre").Take(), {{"O", {5}}});
  ASSERT_TRUE(request->Cancel().ok());
  request.WaitDone();
  EXPECT_EQ(request.final_status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(request.answer_count(), 1u);
  const StatisticsSnapshot statistics = ensemble_->statistics().Snapshot();
  EXPECT_EQ(statistics.failures[static_cast<size_t>(FailureReason::kCanceled)], 1u);
}

TEST_F(EnsembleRunTest, ARunningStepSeesTheCancellationAndNoneFollows) {
  Chain();
  TestRequest& request = Start({{"i", {1}}});
  RequestPtr first = step("first").Take();
  ASSERT_TRUE(request->Cancel().ok());
  EXPECT_TRUE(first->stream()->IsCancelled());
  EXPECT_EQ(request.answer_count(), 0u);
  FakeStep::Finish(std::move(first), {{"O", {1}}});  // the model ignores the cancellation
  request.WaitDone();
  EXPECT_EQ(step("second").seen(), 0);
  EXPECT_EQ(request.final_status().code(), absl::StatusCode::kCancelled);
}

TEST_F(EnsembleRunTest, EachAnswerOfADecoupledStepGoesOn) {
  Stream();
  step("each").ComputeAtOnce(&Sum);
  TestRequest& request = Start({{"i", {10, 20}}});
  RequestPtr many = step("many").Take();
  FakeStep::Send(many.get(), {{"O", {1, 2}}}, 0);
  ASSERT_EQ(request.answer_count(), 1u);
  EXPECT_FALSE(request.answer(0).is_final());
  FakeStep::Send(many.get(), {{"O", {3, 4}}}, 0);
  ASSERT_EQ(request.answer_count(), 2u);
  FakeStep::Send(many.get(), {{"O", {5, 6}}}, kResponseCompleteFinal);
  ASSERT_EQ(request.answer_count(), 3u);
  EXPECT_TRUE(request.answer(2).is_final());
  EXPECT_EQ(request.releases(), 0);  // the model has not released its request, which uses the input
  many.reset();
  request.WaitDone();
  EXPECT_EQ(request.releases(), 1);
  EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(11, 22));
  EXPECT_THAT(OutputOf(*request.answer(1).response, "o"), ElementsAre(13, 24));
  EXPECT_THAT(OutputOf(*request.answer(2).response, "o"), ElementsAre(15, 26));
}

TEST_F(EnsembleRunTest, TheFlagComesAloneWhenTheStepsHaveAnsweredBefore) {
  Stream();
  step("each").ComputeAtOnce(&Sum);
  TestRequest& request = Start({{"i", {1}}});
  RequestPtr many = step("many").Take();
  FakeStep::Send(many.get(), {{"O", {1}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
  ASSERT_EQ(request.answer_count(), 2u);
  EXPECT_EQ(request.answer(1).response, nullptr);
  EXPECT_TRUE(request.answer(1).is_final());
}

TEST_F(EnsembleRunTest, ADecoupledStepMayHaveNoAnswer) {
  Stream();
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::FinishEmpty(step("many").Take());
  request.WaitDone();
  ASSERT_EQ(request.answer_count(), 1u);
  EXPECT_EQ(request.answer(0).response, nullptr);
  EXPECT_TRUE(request.final_status().ok());
}

TEST_F(EnsembleRunTest, IterationsMayEndInAnyOrder) {
  Stream();
  TestRequest& request = Start({{"i", {100}}});
  RequestPtr many = step("many").Take();
  for (int32_t i = 1; i <= 3; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  ASSERT_EQ(step("each").held(), 3u);
  for (const size_t index : {2, 0, 0}) {
    RequestPtr each = step("each").Take(index);
    const FakeStep::Outputs outputs = Sum(each.get());
    FakeStep::Finish(std::move(each), outputs);
  }
  request.WaitDone();
  ASSERT_EQ(request.answer_count(), 3u);
  EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(103));
  EXPECT_THAT(OutputOf(*request.answer(1).response, "o"), ElementsAre(101));
  EXPECT_THAT(OutputOf(*request.answer(2).response, "o"), ElementsAre(102));
  EXPECT_TRUE(request.answer(2).is_final());
}

TEST_F(EnsembleRunTest, AnErrorAfterSomeAnswersEndsTheStream) {
  Stream();
  TestRequest& request = Start({{"i", {1}}});
  RequestPtr many = step("many").Take();
  FakeStep::Send(many.get(), {{"O", {1}}}, 0);
  FakeStep::Send(many.get(), {{"O", {2}}}, 0);
  FakeStep::Finish(step("each").Take(), {{"O", {3}}});
  ASSERT_EQ(request.answer_count(), 1u);
  FakeStep::FinishWithError(step("each").Take(), absl::InternalError("second"));
  EXPECT_TRUE(many->stream()->IsCancelled());
  FakeStep::Send(many.get(), {{"O", {3}}}, 0);  // after the failure: dropped
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
  EXPECT_EQ(step("each").seen(), 2);
  ASSERT_EQ(request.answer_count(), 2u);
  EXPECT_EQ(request.final_status().message(), "in ensemble 'e', second (step 1, model 'each')");
}

TEST_F(EnsembleRunTest, WorkBeyondTheLimitIsParked) {
  spec_.max_inflight_requests = 2;
  Stream();
  TestRequest& request = Start({{"i", {0}}});
  RequestPtr many = step("many").Take();
  for (int32_t i = 0; i < 5; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  FakeStep::FinishEmpty(std::move(many));
  for (int32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(step("each").held(), i < 4 ? 2u : 1u);
    RequestPtr each = step("each").Take();
    const FakeStep::Outputs outputs = Sum(each.get());
    FakeStep::Finish(std::move(each), outputs);
  }
  request.WaitDone();
  ASSERT_EQ(request.answer_count(), 5u);
  EXPECT_THAT(OutputOf(*request.answer(4).response, "o"), ElementsAre(4));
}

TEST_F(EnsembleRunTest, ParkedWorkIsForgottenAfterACancellation) {
  spec_.max_inflight_requests = 1;
  Stream();
  TestRequest& request = Start({{"i", {0}}});
  RequestPtr many = step("many").Take();
  for (int32_t i = 0; i < 3; ++i) FakeStep::Send(many.get(), {{"O", {i}}}, 0);
  ASSERT_TRUE(request->Cancel().ok());
  FakeStep::FinishEmpty(std::move(many));
  FakeStep::Finish(step("each").Take(), {{"O", {0}}});
  request.WaitDone();
  EXPECT_EQ(step("each").seen(), 1);
  EXPECT_EQ(request.final_status().code(), absl::StatusCode::kCancelled);
}

TEST_F(EnsembleRunTest, AModelThatIsNotDecoupledAnswersOnce) {
  Chain();
  TestRequest& request = Start({{"i", {1}}});
  RequestPtr first = step("first").Take();
  FakeStep::Send(first.get(), {{"O", {1}}}, 0);
  FakeStep::Send(first.get(), {{"O", {1}}}, kResponseCompleteFinal);
  first.reset();
  FakeStep::Finish(step("second").Take(), {{"O", {1}}});
  request.WaitDone();
  EXPECT_EQ(request.final_status().code(), absl::StatusCode::kInternal);
}

TEST_F(EnsembleRunTest, HeadersGoToEveryStep) {
  Chain();
  step("first").ComputeAtOnce(&Increment);
  TestRequest& request = NewRequest();
  AddInts(&request, "i", {1});
  request->set_id("42");
  request->set_correlation_id(CorrelationId("s"));
  request->set_flags(kRequestFlagSequenceStart | kRequestFlagSequenceEnd);
  request->set_priority(1234567);
  request->set_timeout_us(99);
  request->AddParameter({"k", int64_t{5}});
  ASSERT_TRUE(TryStart(&request).ok());
  RequestPtr second = step("second").Take();
  EXPECT_EQ(second->id(), "42");
  EXPECT_EQ(second->correlation_id(), CorrelationId("s"));
  EXPECT_EQ(second->flags(), kRequestFlagSequenceStart | kRequestFlagSequenceEnd);
  EXPECT_EQ(second->asked_priority(), 1234567u);
  EXPECT_EQ(second->timeout_us(), 99u);
  ASSERT_EQ(second->parameters().size(), 1u);
  EXPECT_EQ(second->parameters()[0].name, "k");
  FakeStep::Finish(std::move(second), {{"O", {1}}});
  request.WaitDone();
}

TEST_F(EnsembleRunTest, AnswersMayChangeTheSequence) {
  Chain();
  TestRequest& request = NewRequest();
  AddInts(&request, "i", {1});
  request->set_correlation_id(CorrelationId(7));
  request->set_flags(kRequestFlagSequenceStart);
  ASSERT_TRUE(TryStart(&request).ok());
  RequestPtr first = step("first").Take();
  FakeStep::Send(first.get(), {{"O", {1}}}, kResponseCompleteFinal,
                 {{"sequence_id", int64_t{8}}, {"sequence_start", false}, {"sequence_end", true}});
  first.reset();
  RequestPtr second = step("second").Take();
  EXPECT_EQ(second->correlation_id(), CorrelationId(8));
  EXPECT_EQ(second->flags(), kRequestFlagSequenceEnd);
  FakeStep::Send(second.get(), {{"O", {1}}}, kResponseCompleteFinal,
                 {{"sequence_id", std::string("x")}, {"sequence_end", true}});
  second.reset();
  request.WaitDone();
  const std::vector<Parameter>& parameters = request.answer(0).response->parameters();
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].name, "sequence_id");
  EXPECT_EQ(std::get<std::string>(parameters[0].value), "x");
  EXPECT_EQ(parameters[1].name, "sequence_start");
  EXPECT_TRUE(std::get<bool>(parameters[1].value)) << "of the request";
  EXPECT_EQ(parameters[2].name, "sequence_end");
  EXPECT_TRUE(std::get<bool>(parameters[2].value));
}

TEST_F(EnsembleRunTest, AnswersSayTheSequenceOfTheirRequest) {
  Fork();
  for (const char* name : {"pre", "left", "right"}) step(name).ComputeAtOnce(&Increment);
  const std::tuple<CorrelationId, uint32_t, bool, bool> cases[] = {
      {CorrelationId(), 0, false, false},
      {CorrelationId(7), kRequestFlagSequenceStart, true, false},
      {CorrelationId("s"), kRequestFlagSequenceEnd, false, true}};
  for (const auto& [id, flags, start, end] : cases) {
    TestRequest& request = NewRequest();
    AddInts(&request, "i", {1});
    request->set_correlation_id(id);
    request->set_flags(flags);
    ASSERT_TRUE(TryStart(&request).ok());
    request.WaitDone();
    const std::vector<Parameter>& parameters = request.answer(0).response->parameters();
    ASSERT_EQ(parameters.size(), 3u);
    EXPECT_EQ(parameters[0].name, "sequence_id");
    if (id.is_string()) {
      EXPECT_EQ(std::get<std::string>(parameters[0].value), "s");
    } else {
      EXPECT_EQ(std::get<int64_t>(parameters[0].value), static_cast<int64_t>(id.uint_value()));
    }
    EXPECT_EQ(std::get<bool>(parameters[1].value), start);
    EXPECT_EQ(std::get<bool>(parameters[2].value), end);
  }
}

TEST_F(EnsembleRunTest, SequenceParametersHaveTheirTypes) {
  const std::pair<Parameter, std::string> cases[] = {
      {{"sequence_id", true},
       "expected parameter 'sequence_id' to be TRITONSERVER_PARAMETER_INT or "
       "TRITONSERVER_PARAMETER_STRING"},
      {{"sequence_start", int64_t{1}},
       "expect parameter 'sequence_start' to be TRITONSERVER_PARAMETER_BOOL"},
      {{"sequence_end", std::string("1")},
       "expect parameter 'sequence_end' to be TRITONSERVER_PARAMETER_BOOL"}};
  Chain();
  for (const auto& [parameter, text] : cases) {
    TestRequest& request = Start({{"i", {1}}});
    RequestPtr first = step("first").Take();
    FakeStep::Send(first.get(), {{"O", {1}}}, kResponseCompleteFinal, {parameter});
    first.reset();
    request.WaitDone();
    EXPECT_EQ(request.final_status(),
              absl::InvalidArgumentError("in ensemble 'e', " + text + " (step 0, model 'first')"));
  }
}

TEST_F(EnsembleRunTest, TheDepthOfTheStackDoesNotGrowWithTheChain) {
  constexpr int kSteps = 500;
  Input("t0");
  Output(absl::StrCat("t", kSteps));
  uintptr_t lowest = UINTPTR_MAX, highest = 0;
  Model("m", {"I"}, {"O"}).ComputeAtOnce([&](InferRequest* request) {
    // Not the address of a variable: AddressSanitizer may keep variables elsewhere.
    const auto at = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    lowest = std::min(lowest, at);
    highest = std::max(highest, at);
    return Increment(request);
  });
  for (int i = 0; i < kSteps; ++i) {
    Step("m", {{"I", absl::StrCat("t", i)}}, {{"O", absl::StrCat("t", i + 1)}});
  }
  Build();
  TestRequest& request = Start({{"t0", {1}}});
  request.WaitDone();
  EXPECT_THAT(OutputOf(*request.answer(0).response, absl::StrCat("t", kSteps)),
              ElementsAre(1 + kSteps));
  EXPECT_LT(highest - lowest, 4096u);
}

// Runs a function at the end of a turn, like an instance that is lent to an I/O thread.
class FunctionLoan final : public InlineTurn::Loan {
 public:
  explicit FunctionLoan(std::function<void()> fn) : fn_(std::move(fn)) {}
  void RunInline(InlineTurn*) noexcept override { fn_(); }

 private:
  const std::function<void()> fn_;
};

TEST_F(EnsembleRunTest, AnIoThreadMayExecuteEveryStep) {
  Chain();
  InlineTurn turn;
  TestRequest& request = NewRequest();
  AddInts(&request, "i", {1});
  RequestPtr owned = request.Issue();
  owned->set_inline_turn(&turn);
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  RequestPtr first = step("first").Take();
  EXPECT_EQ(first->inline_turn(), &turn);
  // The first step is executed when the turn ends; then the second one starts.
  FunctionLoan loan([&] { FakeStep::Finish(std::move(first), {{"O", {1}}}); });
  ASSERT_TRUE(turn.Defer(&loan));
  turn.End();
  RequestPtr second = step("second").Take();
  EXPECT_EQ(second->inline_turn(), &turn);
  FakeStep::Finish(std::move(second), {{"O", {1}}});
  request.WaitDone();
  // A request that does not come from an I/O thread has no turn.
  TestRequest& other = Start({{"i", {1}}});
  RequestPtr elsewhere = step("first").Take();
  EXPECT_EQ(elsewhere->inline_turn(), nullptr);
  FakeStep::FinishWithError(std::move(elsewhere), absl::InternalError("enough"));
  other.WaitDone();
}

TEST_F(EnsembleRunTest, ModelsAreHeldFromTheStart) {
  Chain();
  TestRequest& request = Start({{"i", {1}}});
  bool torn_down = false;
  step("second").model()->lifetime().Close([&] { torn_down = true; });
  FakeStep::Finish(step("first").Take(), {{"O", {1}}});
  RequestPtr second = step("second").Take();
  EXPECT_TRUE(second->passes_closed_admission());
  EXPECT_FALSE(torn_down);
  FakeStep::Finish(std::move(second), {{"O", {1}}});
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
  EXPECT_TRUE(torn_down);
}

TEST_F(EnsembleRunTest, WithoutAModelTheRequestIsRefused) {
  Chain();
  steps_.erase("second");
  TestRequest& request = NewRequest();
  AddInts(&request, "i", {1});
  EXPECT_EQ(TryStart(&request),
            absl::NotFoundError("in ensemble 'e', no such model (step 1, model 'second')"));
  EXPECT_EQ(request.answer_count(), 0u);
}

// A model that is replaced between look-up and entry, `swaps_` times.
class SwappedMemberTest : public EnsembleRunTest {
 protected:
  absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep& step,
                                                        const InferRequest* request) override {
    if (swaps_ == 0) return EnsembleRunTest::Resolve(step, request);
    --swaps_;
    FakeStep& going = Model("going", {"I"}, {"O"});
    going.model()->lifetime().Close([] {});
    return std::shared_ptr<ServingModel>(going.model());
  }

  int swaps_ = 0;
};

TEST_F(SwappedMemberTest, TheLatestIsTaken) {
  Chain();
  swaps_ = 5;
  TestRequest& request = Start({{"i", {1}}});
  FakeStep::Finish(step("first").Take(), {{"O", {1}}});
  FakeStep::Finish(step("second").Take(), {{"O", {1}}});
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
}

TEST_F(EnsembleRunTest, AClosedEnsembleTakesNoRequestsButThoseOfOthers) {
  Chain();
  scheduler_->CloseAdmission();
  TestRequest& refused = NewRequest();
  AddInts(&refused, "i", {1});
  EXPECT_THAT(TryStart(&refused).message(), HasSubstr("Server is stopping"));
  TestRequest& part = NewRequest();
  AddInts(&part, "i", {1});
  part->MakePart(nullptr);
  EXPECT_TRUE(TryStart(&part).ok());
  FakeStep::Finish(step("first").Take(), {{"O", {1}}});
  FakeStep::Finish(step("second").Take(), {{"O", {1}}});
  part.WaitDone();
}

TEST_F(EnsembleRunTest, AClosedEnsembleLetsSequencesThatLiveBeFinished) {
  Chain();
  step("second").model()->sequence = CorrelationId(7);
  scheduler_->CloseAdmission();
  for (const auto& [id, flags] :
       {std::pair<uint64_t, uint32_t>{8, 0}, {7, kRequestFlagSequenceStart}}) {
    TestRequest& refused = NewRequest();
    AddInts(&refused, "i", {1});
    refused->set_correlation_id(CorrelationId(id));
    refused->set_flags(flags);
    EXPECT_THAT(TryStart(&refused).message(), HasSubstr("Server is stopping"));
  }
  TestRequest& last = NewRequest();
  AddInts(&last, "i", {1});
  last->set_correlation_id(CorrelationId(7));
  last->set_flags(kRequestFlagSequenceEnd);
  ASSERT_TRUE(TryStart(&last).ok());
  FakeStep::Finish(step("first").Take(), {{"O", {1}}});
  FakeStep::Finish(step("second").Take(), {{"O", {1}}});
  last.WaitDone();
}

TEST_F(EnsembleRunTest, TimesOfTheStepsAreAddedUp) {
  Chain();
  TestRequest& request = Start({{"i", {1}}});
  for (const char* name : {"first", "second"}) {
    RequestPtr child = step(name).Take();
    SuccessTimes times{};
    times.queue_start = 100;
    times.exec_start = 110;
    times.compute_start = 130;
    times.compute_end = 160;
    times.exec_end = 200;
    child->compute_times()->Add(times);
    FakeStep::Finish(std::move(child), {{"O", {1}}});
  }
  request.WaitDone();
  const StatisticsSnapshot statistics = ensemble_->statistics().Snapshot();
  EXPECT_EQ(statistics.success.count, 1u);
  EXPECT_EQ(statistics.inference_count, 1u);
  EXPECT_EQ(statistics.execution_count, 1u);
  EXPECT_EQ(statistics.queue.ns, 20u);
  EXPECT_EQ(statistics.compute_input.ns, 40u);
  EXPECT_EQ(statistics.compute_infer.ns, 60u);
  EXPECT_EQ(statistics.compute_output.ns, 80u);
}

// An allocator of an application.
class OwnAllocator final : public OutputAllocator {
 public:
  absl::Status Allocate(const char* name, void*, OutputBuffer* buffer) const override {
    if (fails) return absl::UnavailableError("no memory");
    buffer->base = std::malloc(buffer->byte_size);
    return absl::OkStatus();
  }
  void Release(const OutputBuffer& buffer) const override { std::free(buffer.base); }
  bool fails = false;
};

TEST_F(EnsembleRunTest, OutputsAreCopiedToTheBuffersOfAnApplication) {
  OwnAllocator allocator;
  Chain();
  step("first").ComputeAtOnce(&Increment);
  step("second").ComputeAtOnce(&Increment);
  for (const bool fails : {false, true}) {
    allocator.fails = fails;
    TestRequest& request = NewRequest();
    AddInts(&request, "i", {1, 2, 3});
    ResponseTarget target = request->response_target();
    target.allocator = &allocator;
    request->set_response_target(target);
    ASSERT_TRUE(TryStart(&request).ok());
    request.WaitDone();
    ASSERT_EQ(request.answer_count(), 1u);
    if (fails) {
      EXPECT_EQ(request.final_status(), absl::UnavailableError("in ensemble 'e', no memory"));
    } else {
      EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(3, 4, 5));
    }
  }
  requests_.clear();  // before `allocator`, which owns the buffers of their answers
  EXPECT_EQ(ensemble_->statistics().Snapshot().success.count, 1u);
  EXPECT_EQ(ensemble_->statistics().Snapshot().fail.count, 1u);
}

TEST_F(EnsembleRunTest, AnAnswerThatCannotBeSentEndsTheStream) {
  OwnAllocator allocator;
  allocator.fails = true;
  Stream();
  step("each").ComputeAtOnce(&Sum);
  TestRequest& request = NewRequest();
  AddInts(&request, "i", {1});
  ResponseTarget target = request->response_target();
  target.allocator = &allocator;
  request->set_response_target(target);
  ASSERT_TRUE(TryStart(&request).ok());
  RequestPtr many = step("many").Take();
  FakeStep::Send(many.get(), {{"O", {1}}}, 0);
  EXPECT_EQ(request.answer_count(), 0u);
  EXPECT_TRUE(many->stream()->IsCancelled());
  FakeStep::FinishEmpty(std::move(many));
  request.WaitDone();
  EXPECT_EQ(request.answer_count(), 1u);
  EXPECT_EQ(request.final_status(), absl::UnavailableError("in ensemble 'e', no memory"));
}

}  // namespace
}  // namespace nereid
