// SPDX-License-Identifier: Apache-2.0
#include "infer/flight.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "infer/infer_request.h"
#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

// What a flight has told; outlives the flight.
struct Journal {
  std::atomic<int> released{0};
  std::atomic<int> responses{0};  // that are not null
  std::atomic<int> finals{0};
  std::atomic<int> destroyed{0};
};

class TestFlight final : public Flight, public std::enable_shared_from_this<TestFlight> {
 public:
  TestFlight(Journal* journal, std::shared_ptr<ServingModel> model) : journal_(*journal) {
    Draft(std::move(model), 1);
  }
  ~TestFlight() override { ++journal_.destroyed; }

  using Flight::draft;
  using Flight::Drop;
  using Flight::ReturnSlot;
  // With a core that does `issue`.
  static absl::Status Issue(std::shared_ptr<TestFlight>* flight, Outputs outputs,
                            std::function<absl::Status(InferRequest*)> issue) {
    struct Core final : Issuer {
      absl::Status InferForClient(InferRequest* request) override { return issue(request); }
      std::function<absl::Status(InferRequest*)> issue;
    } core;
    core.issue = std::move(issue);
    return Flight::Issue(flight, std::move(outputs), &core);
  }

  std::function<void()> on_response;

 private:
  void OnReleased() override { ++journal_.released; }
  void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) override {
    EXPECT_EQ(journal_.finals.load(), 0) << "nothing comes after the final response";
    if (response != nullptr) ++journal_.responses;
    if (is_final) ++journal_.finals;
    if (on_response) on_response();
  }

  Journal& journal_;
};

class FlightTest : public ::testing::Test {
 protected:
  FlightTest() {
    model_->on_enqueue = [this](RequestPtr* request) {
      owned_ = std::move(*request);
      stream_ = owned_->stream();
      if (while_issued_) while_issued_();
      return absl::OkStatus();
    };
  }

  std::shared_ptr<TestFlight> Make() { return std::make_shared<TestFlight>(&journal_, model_); }
  absl::Status Issue(std::shared_ptr<TestFlight>* flight) {
    return TestFlight::Issue(flight, {&allocator_, userp_}, [this](InferRequest* request) {
      EXPECT_TRUE(request->lifecycle().MoveTo(RequestState::kInitialized, "").ok());
      return IssueRequest(ModelPass::Enter(model_), request, /*now_ns=*/1);
    });
  }

  // ---- What the core does with an issued request.
  void Release() { owned_.reset(); }
  void Respond(uint32_t flags) { ASSERT_TRUE(stream_->Send(stream_->NewResponse(), flags).ok()); }
  void RespondFinally() {
    Respond(kResponseCompleteFinal);
    stream_.reset();
  }

  Journal journal_;
  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(ModelBuilder("m"));
  const HeapOutputAllocator allocator_{nullptr};
  std::shared_ptr<int> userp_;  // what the allocator gets
  std::function<void()> while_issued_;
  RequestPtr owned_;
  std::shared_ptr<ResponseStream> stream_;
};

// ---- The two ends

struct EndsCase {
  const char* name;
  std::string inside;  // the ends that come before Issue returns: 'r'elease and 'f'inal response
  std::string after;   // those that come later
};

class FlightEndsTest : public FlightTest, public ::testing::WithParamInterface<EndsCase> {
 protected:
  void Let(const std::string& ends) {
    for (const char end : ends) {
      EXPECT_EQ(journal_.destroyed.load(), 0) << "before '" << end << "'";
      end == 'r' ? Release() : RespondFinally();
    }
  }
};

TEST_P(FlightEndsTest, TheFlightLivesUntilBoth) {
  while_issued_ = [this] {
    Let(GetParam().inside);
    EXPECT_EQ(journal_.destroyed.load(), 0) << "Issue has not returned";
  };
  std::shared_ptr<TestFlight> flight = Make();
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_EQ(flight, nullptr);
  Let(GetParam().after);
  EXPECT_EQ(journal_.destroyed.load(), 1);
  EXPECT_EQ(journal_.released.load(), 1);
  EXPECT_EQ(journal_.finals.load(), 1);
}

TEST_P(FlightEndsTest, OthersMayHoldItLonger) {
  while_issued_ = [this] { Let(GetParam().inside); };
  std::shared_ptr<TestFlight> flight = Make();
  const std::shared_ptr<TestFlight> other = flight;
  ASSERT_TRUE(Issue(&flight).ok());
  Let(GetParam().after);
  EXPECT_EQ(journal_.destroyed.load(), 0);
  EXPECT_EQ(other.use_count(), 1);
  EXPECT_EQ(other->draft(), nullptr) << "a flight ends only once";
}

INSTANTIATE_TEST_SUITE_P(
    Orders, FlightEndsTest,
    ::testing::Values(EndsCase{"release_first", "", "rf"}, EndsCase{"response_first", "", "fr"},
                      EndsCase{"release_inside", "r", "f"}, EndsCase{"response_inside", "f", "r"},
                      EndsCase{"both_inside_release_first", "rf", ""},
                      EndsCase{"both_inside_response_first", "fr", ""}),
    [](const ::testing::TestParamInfo<EndsCase>& info) { return info.param.name; });

// A backend may make a response, end the request otherwise, and fill the response after that.
TEST_F(FlightTest, WhatTheAllocatorGetsLastsAsLongAsAResponseMayBeFilled) {
  userp_ = std::make_shared<int>(7);
  const std::weak_ptr<int> kept = userp_;
  std::shared_ptr<TestFlight> flight = Make();
  ASSERT_TRUE(Issue(&flight).ok());
  userp_.reset();
  std::unique_ptr<InferResponse> late = stream_->NewResponse();
  Release();
  RespondFinally();
  EXPECT_EQ(journal_.destroyed.load(), 1);
  ASSERT_FALSE(kept.expired());
  EXPECT_EQ(late->allocator_userp(), kept.lock().get());
  late.reset();
  EXPECT_TRUE(kept.expired());
}

TEST_F(FlightTest, TheDraftIsThereUntilIssue) {
  std::shared_ptr<TestFlight> flight = Make();
  const std::shared_ptr<TestFlight> other = flight;
  ASSERT_NE(flight->draft(), nullptr);
  InferRequest* const request = flight->draft();
  while_issued_ = [&] { EXPECT_EQ(other->draft(), nullptr); };
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_EQ(owned_.get(), request) << "it is a part of the flight";
  EXPECT_EQ(other->draft(), nullptr);
  Release();
  EXPECT_EQ(other->draft(), nullptr);
  RespondFinally();
}

TEST_F(FlightTest, TheReleaseRemovesTheInputs) {
  const auto model = FakeModel::Make(ModelBuilder("i").Input("in", DataType::kInt8, {1}));
  model->on_enqueue = model_->on_enqueue;
  auto flight = std::make_shared<TestFlight>(&journal_, model);
  const char byte = 1;
  const absl::StatusOr<InferInput*> input = flight->draft()->AddInput("in", DataType::kInt8, {1});
  ASSERT_TRUE(input.ok());
  (*input)->AppendBuffer({&byte, 1, MemoryPlace{}});
  const std::shared_ptr<TestFlight> other = flight;
  ASSERT_TRUE(TestFlight::Issue(&flight, &allocator_, [&](InferRequest* request) {
                return IssueRequest(ModelPass::Enter(model), request, 1);
              }).ok());
  const InferRequest* const request = owned_.get();
  EXPECT_EQ(request->inputs().size(), 1u);
  Release();
  EXPECT_TRUE(request->inputs().empty());
  RespondFinally();
}

TEST_F(FlightTest, AModelMayAnswerManyTimes) {
  std::shared_ptr<TestFlight> flight = Make();
  ASSERT_TRUE(Issue(&flight).ok());
  Respond(0);
  Release();
  Respond(0);
  ASSERT_TRUE(stream_->Send(nullptr, 0).ok()) << "flags alone";
  EXPECT_EQ(journal_.responses.load(), 2);
  EXPECT_EQ(journal_.destroyed.load(), 0);
  ASSERT_TRUE(stream_->Send(nullptr, kResponseCompleteFinal).ok());
  EXPECT_EQ(journal_.responses.load(), 2);
  EXPECT_EQ(journal_.finals.load(), 1);
  EXPECT_EQ(journal_.destroyed.load(), 1);
}

TEST_F(FlightTest, AModelThatForgetsTheAnswerEndsTheFlightAllTheSame) {
  std::shared_ptr<TestFlight> flight = Make();
  ASSERT_TRUE(Issue(&flight).ok());
  Release();
  EXPECT_EQ(journal_.destroyed.load(), 0);
  stream_.reset();
  EXPECT_EQ(journal_.responses.load(), 1) << "the core's error";
  EXPECT_EQ(journal_.destroyed.load(), 1);
}

TEST_F(FlightTest, AFrontendThatThrowsEndsTheFlightAllTheSame) {
  std::shared_ptr<TestFlight> flight = Make();
  flight->on_response = [] { throw std::bad_alloc(); };
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_THROW(stream_->Send(nullptr, kResponseCompleteFinal).IgnoreError(), std::bad_alloc);
  EXPECT_EQ(journal_.destroyed.load(), 0);
  Release();
  EXPECT_EQ(journal_.destroyed.load(), 1);
}

// ---- Refusals

TEST_F(FlightTest, ARefusedFlightComesBackAsItWas) {
  std::shared_ptr<TestFlight> flight = Make();
  TestFlight* const same = flight.get();
  const auto take = model_->on_enqueue;
  model_->on_enqueue = [](RequestPtr*) { return absl::UnavailableError("full"); };
  EXPECT_EQ(Issue(&flight), absl::UnavailableError("full"));
  ASSERT_EQ(flight.get(), same);
  EXPECT_EQ(flight.use_count(), 1);
  EXPECT_NE(flight->draft(), nullptr);
  EXPECT_EQ(journal_.released.load() + journal_.finals.load(), 0);
  model_->on_enqueue = take;
  ASSERT_TRUE(Issue(&flight).ok()) << "it may be tried again";
  Release();
  RespondFinally();
  EXPECT_EQ(journal_.destroyed.load(), 1);
}

TEST_F(FlightTest, AnExceptionRefusesToo) {
  std::shared_ptr<TestFlight> flight = Make();
  TestFlight* const same = flight.get();
  const auto fail = [](InferRequest*) -> absl::Status { throw std::bad_alloc(); };
  EXPECT_THROW(TestFlight::Issue(&flight, &allocator_, fail).IgnoreError(), std::bad_alloc);
  ASSERT_EQ(flight.get(), same);
  EXPECT_EQ(flight.use_count(), 1);
  EXPECT_NE(flight->draft(), nullptr);
}

TEST_F(FlightTest, DropReturnsWhatTheFlightHolds) {
  Budget places("requests", 2);
  std::shared_ptr<TestFlight> flight = Make();
  flight->set_slot(*places.Take(1));
  flight->Drop();
  EXPECT_EQ(journal_.released.load(), 1) << "the frontend drops its bytes";
  EXPECT_EQ(flight->draft(), nullptr);
  EXPECT_EQ(places.used(), 0u);
  flight->Cancel();
  flight.reset();
  EXPECT_EQ(journal_.released.load(), 1);
  EXPECT_EQ(journal_.destroyed.load(), 1);
}

TEST_F(FlightTest, ThePlaceGoesBackWithTheFlightOrBefore) {
  Budget places("requests", 2);
  for (const bool before : {false, true}) {
    std::shared_ptr<TestFlight> flight = Make();
    flight->set_slot(*places.Take(1));
    std::shared_ptr<TestFlight> other = flight;
    ASSERT_TRUE(Issue(&flight).ok());
    Release();
    RespondFinally();
    EXPECT_EQ(places.used(), 1u);
    if (before) other->ReturnSlot();
    EXPECT_EQ(places.used(), before ? 0u : 1u);
    other.reset();
    EXPECT_EQ(places.used(), 0u);
    journal_.finals = 0;
  }
}

// ---- Cancel

TEST_F(FlightTest, CancelBeforeIssueIsPassedOn) {
  std::shared_ptr<TestFlight> flight = Make();
  EXPECT_FALSE(flight->cancelled());
  flight->Cancel();
  flight->Cancel();
  EXPECT_TRUE(flight->cancelled());
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_EQ(model_->cancels(), 1);
  EXPECT_TRUE(stream_->IsCancelled());
  Release();
  RespondFinally();
  EXPECT_EQ(journal_.destroyed.load(), 1);
}

TEST_F(FlightTest, CancelDuringIssueIsPassedOnAfterIt) {
  std::shared_ptr<TestFlight> flight = Make();
  const std::shared_ptr<TestFlight> other = flight;
  while_issued_ = [&] {
    other->Cancel();
    EXPECT_EQ(model_->cancels(), 0) << "nobody knows yet whether the core takes the request";
  };
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_EQ(model_->cancels(), 1);
  other->Cancel();
  EXPECT_EQ(model_->cancels(), 1) << "once is enough";
  Release();
  RespondFinally();
  EXPECT_EQ(other.use_count(), 1);
}

TEST_F(FlightTest, CancelOfARequestThatEndsDuringIssueDoesNothing) {
  std::shared_ptr<TestFlight> flight = Make();
  const std::shared_ptr<TestFlight> other = flight;
  while_issued_ = [&] {
    other->Cancel();
    Release();
    RespondFinally();
  };
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_EQ(model_->cancels(), 0);
  EXPECT_EQ(other.use_count(), 1);
}

TEST_F(FlightTest, CancelInFlightReachesTheCoreAtOnce) {
  std::shared_ptr<TestFlight> flight = Make();
  const std::shared_ptr<TestFlight> other = flight;
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_FALSE(stream_->IsCancelled());
  other->Cancel();
  EXPECT_EQ(model_->cancels(), 1);
  EXPECT_TRUE(stream_->IsCancelled());
  Release();
  RespondFinally();
}

TEST_F(FlightTest, CancelMayAnswerAndReleaseAtOnce) {
  model_->on_cancel = [this](InferRequest*) {
    RespondFinally();
    Release();
  };
  std::shared_ptr<TestFlight> flight = Make();
  flight->Cancel();
  ASSERT_TRUE(Issue(&flight).ok());
  EXPECT_EQ(journal_.destroyed.load(), 1) << "by the thread that issues";
}

TEST_F(FlightTest, CancelBetweenTheEnds) {
  for (const bool released : {true, false}) {
    std::shared_ptr<TestFlight> flight = Make();
    const std::shared_ptr<TestFlight> other = flight;
    ASSERT_TRUE(Issue(&flight).ok());
    released ? Release() : RespondFinally();
    other->Cancel();
    EXPECT_TRUE(other->cancelled());
    released ? RespondFinally() : Release();
    EXPECT_EQ(other.use_count(), 1);
    journal_.finals = 0;
  }
}

TEST_F(FlightTest, CancelAfterBothEndsDoesNothing) {
  std::shared_ptr<TestFlight> flight = Make();
  const std::shared_ptr<TestFlight> other = flight;
  ASSERT_TRUE(Issue(&flight).ok());
  Release();
  RespondFinally();
  other->Cancel();
  EXPECT_EQ(model_->cancels(), 0);
}

TEST_F(FlightTest, CancelOfARefusedFlightTouchesNothing) {
  std::shared_ptr<TestFlight> flight = Make();
  model_->on_enqueue = [](RequestPtr*) { return absl::UnavailableError("full"); };
  EXPECT_FALSE(Issue(&flight).ok());
  flight->Cancel();
  EXPECT_TRUE(flight->cancelled());
  EXPECT_EQ(model_->cancels(), 0);
}

// ---- Threads

// Holds threads until all are there, so that what they do next meets.
class Start {
 public:
  explicit Start(int threads) : missing_(threads) {}
  void Meet() {
    --missing_;
    while (missing_.load() > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

// Issue, release, the final response and Cancel, each on a thread of its own.
TEST(FlightThreadsTest, EverythingMayHappenAtATime) {
  constexpr int kRounds = 200;
  const HeapOutputAllocator allocator{nullptr};
  const auto model = FakeModel::Make(ModelBuilder("m"));
  for (int round = 0; round < kRounds; ++round) {
    Journal journal;
    Start start(4);
    std::thread releaser;
    std::thread responder;
    model->on_enqueue = [&](RequestPtr* request) {
      RequestPtr owned = std::move(*request);
      responder = std::thread([&start, stream = owned->stream()] {
        start.Meet();
        stream->SendFinalError(absl::InternalError("end"));
      });
      releaser = std::thread([&start, owned = std::move(owned)]() mutable {
        start.Meet();
        owned.reset();
      });
      if (round % 2 == 0) start.Meet();
      return absl::OkStatus();
    };
    auto flight = std::make_shared<TestFlight>(&journal, model);
    std::thread canceller([&start, weak = flight->weak_from_this()] {
      start.Meet();
      if (const auto held = weak.lock()) held->Cancel();
    });
    ASSERT_TRUE(TestFlight::Issue(&flight, &allocator, [&](InferRequest* request) {
                  return IssueRequest(ModelPass::Enter(model), request, 1);
                }).ok());
    if (round % 2 != 0) start.Meet();
    canceller.join();
    releaser.join();
    responder.join();
    EXPECT_EQ(journal.released.load(), 1);
    EXPECT_EQ(journal.finals.load(), 1);
    EXPECT_EQ(journal.destroyed.load(), 1);
  }
}

// A refusal meets Cancel.
TEST(FlightThreadsTest, ARefusalMayMeetACancel) {
  constexpr int kRounds = 200;
  const HeapOutputAllocator allocator{nullptr};
  const auto model = FakeModel::Make(ModelBuilder("m"));
  for (int round = 0; round < kRounds; ++round) {
    Journal journal;
    Start start(2);
    model->on_enqueue = [&](RequestPtr*) {
      start.Meet();
      return absl::UnavailableError("full");
    };
    auto flight = std::make_shared<TestFlight>(&journal, model);
    std::thread canceller([&start, weak = flight->weak_from_this()] {
      start.Meet();
      if (const auto held = weak.lock()) held->Cancel();
    });
    ASSERT_FALSE(TestFlight::Issue(&flight, &allocator, [&](InferRequest* request) {
                   return IssueRequest(ModelPass::Enter(model), request, 1);
                 }).ok());
    flight->Drop();
    canceller.join();
    EXPECT_EQ(model->cancels(), 0);
    EXPECT_TRUE(flight->cancelled());
  }
}

// A decoupled model that sends from several threads.
TEST(FlightThreadsTest, ResponsesMayComeAtATime) {
  constexpr int kThreads = 3;
  constexpr int kResponses = 200;
  const HeapOutputAllocator allocator{nullptr};
  const auto model = FakeModel::Make(ModelBuilder("m"));
  Journal journal;
  RequestPtr owned;
  model->on_enqueue = [&](RequestPtr* request) {
    owned = std::move(*request);
    return absl::OkStatus();
  };
  auto flight = std::make_shared<TestFlight>(&journal, model);
  ASSERT_TRUE(TestFlight::Issue(&flight, &allocator, [&](InferRequest* request) {
                return IssueRequest(ModelPass::Enter(model), request, 1);
              }).ok());
  std::shared_ptr<ResponseStream> stream = owned->stream();
  Start start(kThreads + 1);
  std::vector<std::thread> senders;
  for (int i = 0; i < kThreads; ++i) {
    senders.emplace_back([&start, stream] {
      start.Meet();
      for (int sent = 0; sent < kResponses; ++sent) {
        ASSERT_TRUE(stream->Send(stream->NewResponse(), 0).ok());
      }
    });
  }
  start.Meet();
  owned.reset();
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(journal.destroyed.load(), 0);
  stream.reset();
  EXPECT_EQ(journal.responses.load(), kThreads * kResponses + 1);
  EXPECT_EQ(journal.destroyed.load(), 1);
}

}  // namespace
}  // namespace nereid
