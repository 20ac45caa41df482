// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/stream_flow.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace nereid {
namespace {

using Kind = StreamFlow::Action::Kind;

class StreamFlowTest : public testing::Test {
 protected:
  static StreamFlow::MessagePtr Message(const std::string& text, WaitingMessages* waiting = nullptr,
                                        std::shared_ptr<void> request = nullptr) {
    auto message = std::make_unique<StreamMessage>();
    message->bytes = OutMessage(text);
    message->waiting = waiting;
    message->request = std::move(request);
    return message;
  }
  static std::string TextOf(const StreamFlow::Action& action) { return action.message->Text(); }
  // "write <text>", "finish <code>" or "none".
  static std::string Say(const StreamFlow::Action& action) {
    switch (action.kind) {
      case Kind::kWrite:
        return "write " + TextOf(action);
      case Kind::kFinish:
        return "finish " + absl::StatusCodeToString(action.status.code());
      case Kind::kNone:
        break;
    }
    return "none";
  }
  std::string Send(const std::string& text) { return Say(flow_.Send(Message(text))); }

  StreamFlow flow_{{/*bytes=*/100, /*messages_per_request=*/3}};
};

TEST_F(StreamFlowTest, ReadingPausesAtTheMostRequests) {
  StreamFlow flow{{/*bytes=*/100, /*messages_per_request=*/3, /*requests=*/2}};
  WaitingMessages first, second;
  flow.BeginRequest();
  EXPECT_TRUE(flow.MayRead());
  flow.BeginRequest();
  EXPECT_FALSE(flow.MayRead());
  // The last response is on its way, not with the client.
  EXPECT_EQ(Say(flow.EndRequest()), "none");
  EXPECT_EQ(flow.requests(), 2);
  EXPECT_TRUE(flow.RequestGone(&first).read);
  EXPECT_FALSE(flow.RequestGone(&second).read) << "was told already";
}

TEST_F(StreamFlowTest, WritesOneMessageAtATime) {
  flow_.BeginRequest();
  EXPECT_EQ(Send("a"), "write a");
  EXPECT_EQ(Send("b"), "none");
  EXPECT_EQ(Send("c"), "none");
  StreamFlow::Action next = flow_.Written(true);
  EXPECT_EQ(Say(next), "write b");
  next = flow_.Written(true);
  EXPECT_EQ(Say(next), "write c");
  EXPECT_EQ(Say(flow_.Written(true)), "none");
  EXPECT_EQ(flow_.waiting_bytes(), 0u);
}

TEST_F(StreamFlowTest, TheFirstMessageWaitsForNoOther) {
  const auto first = flow_.TakePlace();
  const auto second = flow_.TakePlace();
  EXPECT_EQ(Say(flow_.SendInOrder(second, Message("2"))), "none");
  const StreamFlow::Action action = flow_.SendInOrder(first, Message("1"));
  EXPECT_EQ(Say(action), "write 1");
}

TEST_F(StreamFlowTest, OrderedAnswersWaitAndOthersPassThem) {
  const auto first = flow_.TakePlace();
  const auto second = flow_.TakePlace();
  EXPECT_EQ(Say(flow_.SendInOrder(second, Message("2"))), "none");
  EXPECT_EQ(flow_.waiting_bytes(), 0u) << "it does not wait for the client yet";
  EXPECT_EQ(Send("x"), "write x");
  EXPECT_EQ(Say(flow_.SendInOrder(first, Message("1"))), "none");
  EXPECT_EQ(Say(flow_.Written(true)), "write 1");
  EXPECT_EQ(Say(flow_.Written(true)), "write 2");
}

TEST_F(StreamFlowTest, EndsWhenHalfClosedAndEverythingIsAnswered) {
  flow_.BeginRequest();
  flow_.BeginRequest();
  EXPECT_EQ(Say(flow_.HalfClose()), "none");
  EXPECT_EQ(Send("a"), "write a");
  EXPECT_EQ(Say(flow_.EndRequest()), "none");
  EXPECT_EQ(Say(flow_.EndRequest()), "none") << "a is being written";
  EXPECT_EQ(Say(flow_.Written(true)), "finish OK");
  EXPECT_EQ(Say(flow_.Break()), "none") << "it finishes once";
}

TEST_F(StreamFlowTest, AStreamWithoutRequestsEndsAtOnce) {
  EXPECT_EQ(Say(flow_.HalfClose()), "finish OK");
}

TEST_F(StreamFlowTest, AnOpenStreamDoesNotEndWhenAllIsAnswered) {
  flow_.BeginRequest();
  EXPECT_EQ(Say(flow_.EndRequest()), "none");
  EXPECT_EQ(Say(flow_.HalfClose()), "finish OK");
}

TEST_F(StreamFlowTest, ABrokenStreamDropsWhatWaitsAndEndsWithItsRequests) {
  const auto kept = std::make_shared<int>();
  const auto place = flow_.TakePlace();
  flow_.TakePlace();
  flow_.BeginRequest();
  EXPECT_EQ(Send("a"), "write a");
  EXPECT_EQ(Say(flow_.Send(Message("b", nullptr, kept))), "none");
  EXPECT_EQ(Say(flow_.SendInOrder(place + 1, Message("c", nullptr, kept))), "none");
  EXPECT_EQ(kept.use_count(), 3);
  EXPECT_EQ(Say(flow_.Break()), "none");
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(Say(flow_.SendInOrder(place, Message("d", nullptr, kept))), "none");
  EXPECT_EQ(Send("e"), "none");
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(Say(flow_.Written(false)), "none");
  EXPECT_EQ(Say(flow_.EndRequest()), "finish CANCELLED");
}

TEST_F(StreamFlowTest, AFailedWriteBreaksTheStream) {
  flow_.BeginRequest();
  EXPECT_EQ(Send("a"), "write a");
  EXPECT_EQ(Send("b"), "none");
  EXPECT_EQ(Say(flow_.Written(false)), "none");
  EXPECT_EQ(flow_.waiting_bytes(), 0u);
  EXPECT_EQ(Say(flow_.EndRequest()), "finish CANCELLED");
}

TEST_F(StreamFlowTest, AFailureEndsTheStreamAfterTheMessageThatIsWritten) {
  flow_.BeginRequest();
  EXPECT_EQ(Send("a"), "write a");
  EXPECT_EQ(Send("b"), "none");
  EXPECT_EQ(Say(flow_.Fail(absl::NotFoundError("x"))), "none");
  EXPECT_EQ(Say(flow_.Fail(absl::InternalError("y"))), "none");
  EXPECT_EQ(Say(flow_.Written(true)), "finish NOT_FOUND");
  EXPECT_EQ(Say(flow_.EndRequest()), "none");
}

TEST_F(StreamFlowTest, AFailureOfAnIdleStreamEndsItAtOnce) {
  EXPECT_EQ(Say(flow_.Fail(absl::NotFoundError("x"))), "finish NOT_FOUND");
}

TEST_F(StreamFlowTest, ReadingPausesWhileTheClientDoesNotRead) {
  EXPECT_EQ(Send(std::string(60, 'a')), "write " + std::string(60, 'a'));
  EXPECT_TRUE(flow_.MayRead());
  Send(std::string(60, 'b'));
  EXPECT_FALSE(flow_.MayRead());
  Send(std::string(10, 'c'));
  EXPECT_FALSE(flow_.Written(true).read) << "more than half of the limit still waits";
  EXPECT_TRUE(flow_.Written(true).read);
  EXPECT_FALSE(flow_.Written(true).read) << "told once";
}

// A request with several responses.
struct Decoupled {
  explicit Decoupled(const StreamFlow& flow) {
    waiting.credit = std::make_shared<ResponseCredit>(flow.account(), 100);
  }
  bool has_credit() const { return waiting.credit->has_credit(); }
  WaitingMessages waiting;
};

TEST_F(StreamFlowTest, ARequestLosesItsCreditUntilHalfIsTaken) {
  Decoupled request(flow_);
  EXPECT_TRUE(request.has_credit());
  EXPECT_EQ(Say(flow_.Send(Message(std::string(60, 'a'), &request.waiting))),
            "write " + std::string(60, 'a'));
  EXPECT_TRUE(request.has_credit());
  EXPECT_EQ(Say(flow_.Send(Message(std::string(50, 'b'), &request.waiting))), "none");
  EXPECT_FALSE(request.has_credit());
  EXPECT_EQ(flow_.account()->load(), 110u);
  EXPECT_EQ(Send(std::string(10, 'c')), "none") << "what is sent without credit is taken, too";
  int woken = 0;
  request.waiting.credit->OnCredit([&] { ++woken; });
  EXPECT_EQ(Say(flow_.Written(true)), "write " + std::string(50, 'b'));
  EXPECT_EQ(flow_.waiting_bytes(), 60u);
  EXPECT_FALSE(request.has_credit());
  {
    const StreamFlow::Action action = flow_.Written(true);
    EXPECT_EQ(Say(action), "write " + std::string(10, 'c'));
    EXPECT_TRUE(request.has_credit());
    EXPECT_EQ(woken, 0) << "who carries out the action calls them";
  }
  EXPECT_EQ(woken, 1);
}

TEST_F(StreamFlowTest, OtherRequestsKeepTheirCreditUntilTheySend) {
  Decoupled slow(flow_), other(flow_);
  Say(flow_.Send(Message(std::string(200, 'a'), &slow.waiting)));
  EXPECT_FALSE(slow.has_credit());
  EXPECT_TRUE(other.has_credit());
  Say(flow_.Send(Message("b", &other.waiting)));
  EXPECT_FALSE(other.has_credit());
  EXPECT_EQ(Say(flow_.Written(true)), "write b");
  EXPECT_TRUE(slow.has_credit());
  EXPECT_TRUE(other.has_credit());
}

TEST_F(StreamFlowTest, ARequestLosesItsCreditByTheNumberOfItsOwnMessages) {
  Decoupled mine(flow_), other(flow_);
  EXPECT_EQ(Say(flow_.Send(Message("1", &mine.waiting))), "write 1");
  EXPECT_EQ(Say(flow_.Send(Message("2", &mine.waiting))), "none");
  EXPECT_EQ(Say(flow_.Send(Message("x", &other.waiting))), "none");
  EXPECT_TRUE(mine.has_credit());
  EXPECT_EQ(Say(flow_.Send(Message("3", &mine.waiting))), "none");
  EXPECT_FALSE(mine.has_credit());
  EXPECT_TRUE(other.has_credit());
  EXPECT_EQ(Say(flow_.Written(true)), "write 2");
  EXPECT_TRUE(mine.has_credit());
}

TEST_F(StreamFlowTest, NobodyWaitsForABrokenStream) {
  Decoupled request(flow_);
  Say(flow_.Send(Message(std::string(200, 'a'), &request.waiting)));
  int woken = 0;
  request.waiting.credit->OnCredit([&] { ++woken; });
  EXPECT_EQ(Say(flow_.Break()), "none");
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(request.has_credit());
}

TEST_F(StreamFlowTest, ARequestThatIsGoneIsForgotten) {
  auto request = std::make_unique<Decoupled>(flow_);
  Send(std::string(200, 'a'));
  Say(flow_.Send(Message("b", &request->waiting)));
  Send(std::string(200, 'c'));
  EXPECT_EQ(Say(flow_.Written(true)), "write b");
  EXPECT_EQ(Say(flow_.Written(true)), "write " + std::string(200, 'c'));
  EXPECT_FALSE(request->has_credit()) << "other messages still wait";
  EXPECT_FALSE(flow_.RequestGone(&request->waiting).read);
  request.reset();
  EXPECT_EQ(Say(flow_.Written(true)), "none");
}

// Many senders and a client that takes one message at a time: everything arrives, nothing twice,
// and each sender's messages in order.
TEST(StreamFlowThreadsTest, ManySendersOneReader) {
  constexpr int kSenders = 4;
  constexpr int kMessages = 2000;
  StreamFlow flow({/*bytes=*/64, /*messages_per_request=*/4});
  std::deque<Decoupled> requests;
  for (int s = 0; s < kSenders; ++s) requests.emplace_back(flow);
  std::vector<int> next(kSenders, 0);
  std::atomic<int> wrong{0};
  Mutex writer_mu;  // stands for the one completion queue
  std::deque<StreamFlow::Action> to_write;
  const auto act = [&](StreamFlow::Action action) {
    if (action.kind != Kind::kWrite) return;
    MutexLock lock(&writer_mu);
    to_write.push_back(std::move(action));
  };
  for (int s = 0; s < kSenders; ++s) flow.BeginRequest();
  std::vector<std::thread> threads;
  for (int s = 0; s < kSenders; ++s) {
    threads.emplace_back([&, s] {
      for (int m = 0; m < kMessages; ++m) {
        auto message = std::make_unique<StreamMessage>();
        const std::string text = std::to_string(s) + ":" + std::to_string(m);
        message->bytes = OutMessage(text);
        WaitingMessages& waiting = requests[static_cast<size_t>(s)].waiting;
        message->waiting = &waiting;
        act(flow.Send(std::move(message)));
        const auto credited = std::make_shared<std::promise<void>>();
        waiting.credit->OnCredit([credited] { credited->set_value(); });
        credited->get_future().wait();
      }
    });
  }
  for (int taken = 0; taken < kSenders * kMessages;) {
    StreamFlow::Action action;
    {
      MutexLock lock(&writer_mu);
      if (to_write.empty()) continue;
      action = std::move(to_write.front());
      to_write.pop_front();
      if (!to_write.empty()) ++wrong;
    }
    const std::string text = action.message->Text();
    const auto sender = static_cast<size_t>(text[0] - '0');
    if (text.substr(2) != std::to_string(next[sender]++)) ++wrong;
    ++taken;
    act(flow.Written(true));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(flow.waiting_bytes(), 0u);
}

}  // namespace
}  // namespace nereid
