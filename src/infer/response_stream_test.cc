// SPDX-License-Identifier: Apache-2.0
#include "infer/response_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "infer/response.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

class ResponseStreamTest : public ::testing::Test {
 protected:
  ResponseStreamTest() { request_->set_id("7"); }

  // The stream of an issued request that has been released already.
  std::shared_ptr<ResponseStream> Detached() {
    RequestPtr owned = request_.Issue();
    return owned->stream();
  }

  const std::shared_ptr<FakeModel> model_ =
      FakeModel::Make(ModelBuilder("m").Output("out", DataType::kInt8, {1}));
  TestRequest request_{model_};
};

TEST_F(ResponseStreamTest, DeliversResponsesInOrderWithTheirFlags) {
  std::shared_ptr<ResponseStream> stream = Detached();
  ASSERT_TRUE(stream->Send(stream->NewResponse(), 0).ok());
  ASSERT_TRUE(stream->Send(stream->NewResponse(), 0).ok());
  ASSERT_TRUE(stream->Send(nullptr, kResponseCompleteFinal).ok());
  ASSERT_EQ(request_.answer_count(), 3u);
  EXPECT_NE(request_.answer(0).response, nullptr);
  EXPECT_EQ(request_.answer(0).flags, 0u);
  EXPECT_EQ(request_.answer(2).response, nullptr);
  EXPECT_TRUE(request_.answer(2).is_final());
}

// A receiver that records the flags of responses. While it handles a response, a final one is sent,
// as a second thread of a backend may do at any moment.
struct FinalMeanwhile {
  ResponseStream* stream = nullptr;
  bool inside = false;
  std::vector<uint32_t> flags;

  static void Receive(InferResponse* response, uint32_t flags, const ResponseTarget& target) {
    auto* self = static_cast<FinalMeanwhile*>(target.userp);
    const std::unique_ptr<InferResponse> owned(response);
    EXPECT_FALSE(self->inside) << "called while a delivery is under way";
    self->inside = true;
    if (flags == 0) {
      EXPECT_TRUE(self->stream->Send(self->stream->NewResponse(), kResponseCompleteFinal).ok());
      EXPECT_FALSE(self->stream->Send(nullptr, 0).ok());
    }
    self->inside = false;
    self->flags.push_back(flags);
  }
};

TEST_F(ResponseStreamTest, AFinalResponseWaitsForTheDeliveryUnderWay) {
  FinalMeanwhile receiver;
  HeapOutputAllocator allocator(nullptr);
  ResponseTarget target;
  target.fn = &FinalMeanwhile::Receive;
  target.userp = &receiver;
  target.allocator = &allocator;
  const auto stream = std::make_shared<ResponseStream>(ModelPass::Enter(model_), "7", target);
  receiver.stream = stream.get();
  ASSERT_TRUE(stream->Send(stream->NewResponse(), 0).ok());
  EXPECT_EQ(receiver.flags, (std::vector<uint32_t>{0, kResponseCompleteFinal}));
}

TEST(FirstResponseTest, TheFirstOneOfARequestIsCounted) {
  CompiledModel config = ModelBuilder("m").Output("out", DataType::kInt8, {1}).Build();
  config.decoupled = true;
  const auto model = std::make_shared<FakeModel>(std::move(config));
  const auto counted = [&] {
    DurationCounts counts{};
    model->statistics().latencies().first_responses()->histogram.AddTo(&counts);
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  };
  TestRequest request(model);
  {
    const std::shared_ptr<ResponseStream> stream = request.Issue()->stream();
    ASSERT_TRUE(stream->Send(stream->NewResponse(), 0).ok());
    EXPECT_EQ(counted(), 1u);
    ASSERT_TRUE(stream->Send(stream->NewResponse(), 0).ok());
    ASSERT_TRUE(stream->Send(nullptr, kResponseCompleteFinal).ok());
  }
  EXPECT_EQ(counted(), 1u);
  // A final flag alone is no response.
  TestRequest empty(model);
  ASSERT_TRUE(empty.Issue()->stream()->Send(nullptr, kResponseCompleteFinal).ok());
  EXPECT_EQ(counted(), 1u);
}

TEST(ExecutionReportTest, ADecoupledRequestLastsUntilItsFinalResponse) {
  FakeClock clock;
  const auto successes = [](const ServingModel& model) {
    return model.statistics().Snapshot().success;
  };
  for (const bool decoupled : {false, true}) {
    CompiledModel config = ModelBuilder("m").Output("out", DataType::kInt8, {1}).Build();
    config.decoupled = decoupled;
    const auto model = std::make_shared<FakeModel>(std::move(config), &clock);
    TestRequest request(model);
    const RequestPtr owned = request.Issue();
    const std::shared_ptr<ResponseStream> stream = owned->stream();
    ExecutionReport report{ModelStatistics::kModelShard, /*success=*/true, 1, {}};
    report.times.request_start = owned->request_start_ns();
    clock.Advance(std::chrono::seconds(1));
    report.times.request_end = ToNanos(clock.Now());
    stream->Record(report);
    EXPECT_EQ(successes(*model).count, decoupled ? 0u : 1u);
    clock.Advance(std::chrono::seconds(3));
    ASSERT_TRUE(stream->Send(stream->NewResponse(), kResponseCompleteFinal).ok());
    EXPECT_EQ(successes(*model).count, 1u);
    EXPECT_EQ(successes(*model).ns, (decoupled ? 4u : 1u) * uint64_t{1'000'000'000});
    // The backend answered first and reported afterwards.
    stream->Record(report);
    EXPECT_EQ(successes(*model).count, 2u);
  }
}

TEST_F(ResponseStreamTest, AResponseNamesModelVersionAndRequest) {
  std::shared_ptr<ResponseStream> stream = Detached();
  ASSERT_TRUE(stream->Send(stream->NewResponse(), kResponseCompleteFinal).ok());
  const InferResponse& response = *request_.answer(0).response;
  EXPECT_EQ(response.model_name(), "m");
  EXPECT_EQ(response.model_version(), 1);
  EXPECT_EQ(response.id(), "7");
  EXPECT_TRUE(response.status().ok());
}

TEST_F(ResponseStreamTest, ADeliveredResponseDoesNotKeepTheStream) {
  std::shared_ptr<ResponseStream> stream = Detached();
  std::weak_ptr<ResponseStream> handle = stream;
  ASSERT_TRUE(stream->Send(stream->NewResponse(), kResponseCompleteFinal).ok());
  stream.reset();
  EXPECT_TRUE(handle.expired());
  EXPECT_NE(request_.answer(0).response, nullptr);
}

TEST_F(ResponseStreamTest, ASecondFinalIsRefusedAndDropped) {
  std::shared_ptr<ResponseStream> stream = Detached();
  ASSERT_TRUE(stream->Send(stream->NewResponse(), kResponseCompleteFinal).ok());
  EXPECT_EQ(stream->Send(stream->NewResponse(), kResponseCompleteFinal),
            absl::InternalError("[request id: 7] model 'm': a response was sent after the final "
                                "one; it is dropped"));
  EXPECT_EQ(request_.answer_count(), 1u);
}

TEST_F(ResponseStreamTest, NothingIsDeliveredAfterTheFinalOne) {
  std::shared_ptr<ResponseStream> stream = Detached();
  ASSERT_TRUE(stream->Send(nullptr, kResponseCompleteFinal).ok());
  EXPECT_EQ(stream->Send(stream->NewResponse(), 0).code(), absl::StatusCode::kInternal);
  stream->SendFinalError(absl::InternalError("too late"));
  EXPECT_EQ(request_.answer_count(), 1u);
}

TEST_F(ResponseStreamTest, SendFinalErrorAnswersWithTheError) {
  std::shared_ptr<ResponseStream> stream = Detached();
  stream->SendFinalError(absl::UnavailableError("no"));
  ASSERT_EQ(request_.answer_count(), 1u);
  EXPECT_TRUE(request_.answer(0).is_final());
  EXPECT_EQ(request_.answer(0).status(), absl::UnavailableError("no"));
  EXPECT_TRUE(stream->final_sent());
}

// ---- The end of the last reference

TEST_F(ResponseStreamTest, TheLastReferenceAnswersWhereNobodyDid) {
  std::shared_ptr<ResponseStream> stream = Detached();
  EXPECT_EQ(request_.answer_count(), 0u) << "a factory may still send";
  stream.reset();
  ASSERT_EQ(request_.answer_count(), 1u);
  EXPECT_TRUE(request_.answer(0).is_final());
  EXPECT_EQ(request_.answer(0).status(),
            absl::InternalError("model 'm': the backend 'fake' ended the request without a final "
                                "response"));
}

TEST_F(ResponseStreamTest, AnUnsentResponseIsAReferenceToo) {
  std::unique_ptr<InferResponse> unsent = Detached()->NewResponse();
  EXPECT_EQ(request_.answer_count(), 0u);
  unsent.reset();
  ASSERT_EQ(request_.answer_count(), 1u);
  EXPECT_EQ(request_.answer(0).status().code(), absl::StatusCode::kInternal);
}

TEST_F(ResponseStreamTest, TheLastReferenceStaysSilentAfterAFinalResponse) {
  std::shared_ptr<ResponseStream> stream = Detached();
  ASSERT_TRUE(stream->Send(nullptr, kResponseCompleteFinal).ok());
  stream.reset();
  EXPECT_EQ(request_.answer_count(), 1u);
}

TEST_F(ResponseStreamTest, ResponsesThatWereNotFinalDoNotSilenceIt) {
  std::shared_ptr<ResponseStream> stream = Detached();
  ASSERT_TRUE(stream->Send(stream->NewResponse(), 0).ok());
  stream.reset();
  EXPECT_EQ(request_.answer_count(), 2u);
  EXPECT_EQ(request_.final_status().code(), absl::StatusCode::kInternal);
}

TEST_F(ResponseStreamTest, AnAbandonedStreamSaysNothing) {
  std::shared_ptr<ResponseStream> stream = Detached();
  stream->Abandon();
  stream.reset();
  EXPECT_EQ(request_.answer_count(), 0u);
}

TEST_F(ResponseStreamTest, TheModelIsLeftWithTheLastReference) {
  std::shared_ptr<ResponseStream> stream = Detached();
  EXPECT_EQ(model_->lifetime().inside(), 1);
  stream.reset();
  EXPECT_EQ(model_->lifetime().inside(), 0);
}

// ---- Cancel, indices, threads

TEST_F(ResponseStreamTest, CancelIsAMarkAndSendsNothing) {
  std::shared_ptr<ResponseStream> stream = Detached();
  EXPECT_FALSE(stream->IsCancelled());
  stream->Cancel();
  EXPECT_TRUE(stream->IsCancelled());
  EXPECT_EQ(request_.answer_count(), 0u);
  EXPECT_TRUE(stream->Send(stream->NewResponse(), kResponseCompleteFinal).ok())
      << "a backend may answer a cancelled request";
}

TEST_F(ResponseStreamTest, StatisticsIndicesRunFromZero) {
  const std::shared_ptr<ResponseStream> stream = Detached();
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(stream->NextStatisticsIndex(), i);
  stream->Abandon();
}

TEST_F(ResponseStreamTest, OfManyThreadsOneSendsTheFinalResponse) {
  std::shared_ptr<ResponseStream> stream = Detached();
  constexpr int kThreads = 4;
  std::atomic<int> sent{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      if (stream->Send(stream->NewResponse(), kResponseCompleteFinal).ok()) ++sent;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sent.load(), 1);
  EXPECT_EQ(request_.answer_count(), 1u);
}

}  // namespace
}  // namespace nereid
