#include "frontends/grpc/stream_flow.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/wake_batch.h"

namespace nereid {
namespace {

using Kind = StreamFlow::Action::Kind;

constexpr Duration kStall = std::chrono::seconds(10);

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

  FakeClock clock_;
  StreamFlow flow_{{/*bytes=*/100, /*messages_per_request=*/3, kStall}, &clock_};
};

TEST_F(StreamFlowTest, ReadingPausesAtTheMostRequests) {
  StreamFlow flow{{/*bytes=*/100, /*messages_per_request=*/3, kStall, /*requests=*/2}, &clock_};
  flow.BeginRequest();
  EXPECT_TRUE(flow.MayRead());
  flow.BeginRequest();
  EXPECT_FALSE(flow.MayRead());
  // The last response is on its way, not with the client.
  EXPECT_EQ(Say(flow.EndRequest()), "none");
  EXPECT_EQ(flow.requests(), 2);
  EXPECT_TRUE(flow.RequestGone().read);
  EXPECT_FALSE(flow.RequestGone().read) << "was told already";
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

TEST_F(StreamFlowTest, ASenderIsHeldBackUntilHalfIsTaken) {
  WaitingMessages waiting;
  EXPECT_TRUE(flow_.HoldBack(waiting)) << "nothing waits";
  Send(std::string(60, 'a'));
  Send(std::string(50, 'b'));
  Send(std::string(10, 'c'));
  std::future<bool> held = std::async(std::launch::async, [&] { return flow_.HoldBack(waiting); });
  while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  EXPECT_EQ(Say(flow_.Written(true)), "write " + std::string(50, 'b'));
  EXPECT_EQ(flow_.waiting_bytes(), 60u);
  EXPECT_EQ(held.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(Say(flow_.Written(true)), "write " + std::string(10, 'c'));
  EXPECT_TRUE(held.get());
}

// Otherwise it would wait for what only the thread that it has not woken can do.
TEST_F(StreamFlowTest, ASenderThatIsHeldBackWakesThoseItHasPutOff) {
  class Sleeper final : public WakeBatch::Sleeper {
   public:
    void Wake() noexcept override { woken.set_value(); }
    std::promise<void> woken;
  };
  const auto sleeper = std::make_shared<Sleeper>();
  WaitingMessages waiting;
  Send(std::string(200, 'a'));
  std::future<bool> held = std::async(std::launch::async, [&] {
    const WakeBatch batch;
    WakeBatch::PutOff(sleeper);
    return flow_.HoldBack(waiting);
  });
  sleeper->woken.get_future().wait();
  EXPECT_EQ(Say(flow_.Written(true)), "none");
  EXPECT_TRUE(held.get());
}

TEST_F(StreamFlowTest, ASenderIsHeldBackByTheNumberOfItsOwnMessages) {
  WaitingMessages mine, other;
  EXPECT_EQ(Say(flow_.Send(Message("1", &mine))), "write 1");
  for (const char* text : {"2", "3"}) {
    EXPECT_EQ(Say(flow_.Send(Message(text, &mine))), "none");
  }
  EXPECT_TRUE(flow_.HoldBack(other));
  std::future<bool> held = std::async(std::launch::async, [&] { return flow_.HoldBack(mine); });
  while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  EXPECT_EQ(Say(flow_.Written(true)), "write 2");
  EXPECT_TRUE(held.get());
}

TEST_F(StreamFlowTest, ABrokenStreamHoldsNobody) {
  WaitingMessages waiting;
  Send(std::string(200, 'a'));
  std::future<bool> held = std::async(std::launch::async, [&] { return flow_.HoldBack(waiting); });
  while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  EXPECT_EQ(Say(flow_.Break()), "none");
  EXPECT_TRUE(held.get());
  EXPECT_TRUE(flow_.HoldBack(waiting));
}

TEST_F(StreamFlowTest, AClientThatTakesNothingForTooLongIsGivenUp) {
  WaitingMessages waiting;
  Send("a");
  Send(std::string(200, 'b'));
  std::future<bool> held = std::async(std::launch::async, [&] { return flow_.HoldBack(waiting); });
  while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  clock_.Advance(kStall - std::chrono::seconds(1));
  // What it takes gives it time again.
  EXPECT_EQ(Say(flow_.Written(true)), "write " + std::string(200, 'b'));
  while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  clock_.Advance(kStall);
  // The thread may not have looked at the clock before the first step of time.
  while (held.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    clock_.Advance(kStall);
  }
  EXPECT_FALSE(held.get());
}

// Many senders and a client that takes one message at a time: everything arrives, nothing twice,
// and each sender's messages in order.
TEST(StreamFlowThreadsTest, ManySendersOneReader) {
  constexpr int kSenders = 4;
  constexpr int kMessages = 2000;
  StreamFlow flow({/*bytes=*/64, /*messages_per_request=*/4, kStall}, Clock::Real());
  std::vector<WaitingMessages> waiting(kSenders);
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
        message->waiting = &waiting[static_cast<size_t>(s)];
        act(flow.Send(std::move(message)));
        if (!flow.HoldBack(waiting[static_cast<size_t>(s)])) ++wrong;
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
