// SPDX-License-Identifier: Apache-2.0
#include "infer/response_credit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "infer/response.h"
#include "infer/response_stream.h"
#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

std::shared_ptr<ResponseCredit> MakeCredit() {
  return std::make_shared<ResponseCredit>(std::make_shared<ResponseCredit::Account>(0), 100);
}

TEST(ResponseCreditTest, WaitersAreCalledOnceWhenCreditReturns) {
  const auto credit = MakeCredit();
  int calls = 0;
  credit->OnCredit([&] { ++calls; });
  EXPECT_EQ(calls, 1) << "there is credit at first";
  credit->Withdraw();
  EXPECT_FALSE(credit->has_credit());
  credit->OnCredit([&] { calls += 10; });
  credit->OnCredit([&] { calls += 100; });
  EXPECT_EQ(calls, 1);
  {
    const ResponseCredit::Woken woken = credit->Give();
    EXPECT_TRUE(credit->has_credit());
    EXPECT_EQ(calls, 1) << "who gives says when the waiters are called: without its locks";
  }
  EXPECT_EQ(calls, 111);
  credit->Withdraw();
  credit->Give().Call();
  EXPECT_EQ(calls, 111);
}

TEST(ResponseCreditTest, AWaiterMayWaitAgain) {
  const auto credit = MakeCredit();
  std::string seen;
  credit->Withdraw();
  credit->OnCredit([&] {
    seen += "a";
    credit->Withdraw();
    credit->OnCredit([&] { seen += "b"; });
  });
  credit->Give().Call();
  EXPECT_EQ(seen, "a");
  credit->Give().Call();
  EXPECT_EQ(seen, "ab");
}

TEST(ResponseCreditTest, WhatIsWaivedStaysSo) {
  const auto credit = MakeCredit();
  int calls = 0;
  credit->Withdraw();
  credit->OnCredit([&] { ++calls; });
  credit->Waive().Call();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(credit->has_credit());
  EXPECT_TRUE(credit->full()) << "the receiver still has too much";
  credit->Withdraw();
  EXPECT_TRUE(credit->has_credit());
  credit->OnCredit([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(ResponseCreditTest, WokenCanBeJoined) {
  const auto first = MakeCredit();
  const auto second = MakeCredit();
  std::string seen;
  first->Withdraw();
  second->Withdraw();
  first->OnCredit([&] { seen += "1"; });
  second->OnCredit([&] { seen += "2"; });
  ResponseCredit::Woken woken = first->Give();
  woken.Add(second->Give());
  EXPECT_EQ(seen, "");
  woken.Call();
  EXPECT_EQ(seen, "12");
  woken.Call();
  EXPECT_EQ(seen, "12");
}

// A receiver that changes its mind all the time, and senders that wait: each is called exactly once
// for each wait, and nobody is forgotten.
TEST(ResponseCreditTest, NoWaiterIsForgottenOrCalledTwice) {
  constexpr int kSenders = 3;
  constexpr int kWaits = 3000;
  const auto credit = MakeCredit();
  std::atomic<int> calls{0};
  std::atomic<int> done{0};
  std::thread receiver([&] {
    while (done.load() < kSenders) {
      credit->Withdraw();
      credit->Give().Call();
    }
  });
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&] {
      for (int i = 0; i < kWaits; ++i) {
        const auto called = std::make_shared<std::promise<void>>();
        credit->OnCredit([&calls, called] {
          ++calls;
          called->set_value();  // throws the second time
        });
        called->get_future().wait();
      }
      ++done;
    });
  }
  for (std::thread& sender : senders) sender.join();
  receiver.join();
  EXPECT_EQ(calls.load(), kSenders * kWaits);
}

// An allocator whose memory is exhausted.
class NoRoom final : public OutputAllocator {
 public:
  absl::Status Allocate(const char*, void*, OutputBuffer* buffer) const override {
    client = buffer->holder == nullptr ? nullptr : *buffer->holder;
    return absl::UnavailableError("server limit 'in-flight bytes' is exhausted");
  }
  void Release(const OutputBuffer&) const override {}
  mutable std::shared_ptr<Holder> client;
};

struct Received {
  std::string text;
  absl::Status error;
};

void Receive(InferResponse* response, uint32_t flags, const ResponseTarget& target) {
  auto* const received = static_cast<Received*>(target.userp);
  if (response != nullptr && !response->status().ok()) received->error = response->status();
  received->text += response == nullptr ? "-" : "r";
  if ((flags & kResponseCompleteFinal) != 0) received->text += ".";
  delete response;
}

class StreamCreditTest : public testing::Test {
 protected:
  StreamCreditTest() {
    ResponseTarget target{&Receive, &received_, nullptr, &no_room_, nullptr};
    target.credit = credit_;
    target.holder = client_;
    stream_ = std::make_shared<ResponseStream>(ModelPass::Enter(model_), "id7", target);
  }

  // The error of a response's output.
  absl::Status Fill() {
    response_ = stream_->NewResponse();
    const std::vector<int64_t> shape = {1};
    return (*response_->AddOutput("OUT", DataType::kInt32, shape))->Allocate(4, MemoryPlace{});
  }

  const std::shared_ptr<ResponseCredit> credit_ = MakeCredit();
  const std::shared_ptr<Holder> client_ = std::make_shared<Holder>();
  NoRoom no_room_;
  Received received_;
  const std::shared_ptr<FakeModel> model_ =
      FakeModel::Make(ModelBuilder("m").Output("OUT", DataType::kInt32, {1}));
  std::shared_ptr<ResponseStream> stream_;
  std::unique_ptr<InferResponse> response_;
};

TEST_F(StreamCreditTest, OutputsAreTheClients) {
  EXPECT_TRUE(absl::IsUnavailable(Fill()));
  EXPECT_EQ(no_room_.client, client_);
  EXPECT_EQ(received_.text, "") << "it has credit: the error is the backend's to report";
  EXPECT_FALSE(stream_->IsCancelled());
}

TEST_F(StreamCreditTest, ASenderWithoutCreditIsEndedWhenThereIsNoRoom) {
  credit_->account()->store(77);
  credit_->Withdraw();
  int woken = 0;
  stream_->OnCredit([&] { ++woken; });
  EXPECT_TRUE(absl::IsUnavailable(Fill()));
  EXPECT_EQ(received_.text, "r.");
  EXPECT_EQ(received_.error,
            absl::ResourceExhaustedError(
                "[request id: id7] the responses of model 'm' end here because the client reads "
                "them too slowly: 77 bytes wait for it, and the server has no room for more "
                "(--max-in-flight-bytes)"));
  EXPECT_TRUE(stream_->IsCancelled());
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(stream_->Send(std::move(response_), 0), absl::OkStatus()) << "it is dropped";
  EXPECT_EQ(stream_->Send(nullptr, kResponseCompleteFinal), absl::OkStatus());
  EXPECT_EQ(received_.text, "r.");
}

TEST_F(StreamCreditTest, WaitersWakeWhenTheRequestIsCancelledEndsOrItsModelDoes) {
  credit_->Withdraw();
  std::string seen;
  stream_->OnCredit([&] { seen += "a"; });
  EXPECT_FALSE(stream_->HasCredit());
  model_->BeginUnload();
  EXPECT_EQ(seen, "a");
  EXPECT_TRUE(stream_->HasCredit());
}

TEST_F(StreamCreditTest, ACancelledRequestHasCredit) {
  credit_->Withdraw();
  int woken = 0;
  stream_->OnCredit([&] { ++woken; });
  stream_->Cancel();
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(stream_->HasCredit());
}

TEST_F(StreamCreditTest, TheFinalResponseEndsTheWait) {
  credit_->Withdraw();
  int woken = 0;
  stream_->OnCredit([&] { ++woken; });
  EXPECT_TRUE(stream_->Send(nullptr, kResponseCompleteFinal).ok());
  EXPECT_EQ(woken, 1);
}

TEST_F(StreamCreditTest, AModelThatUnloadsWaitsForNobody) {
  model_->BeginUnload();
  credit_->Withdraw();
  int woken = 0;
  stream_->OnCredit([&] { ++woken; });
  EXPECT_EQ(woken, 1);
}

TEST_F(StreamCreditTest, ARequestWithoutCreditObjectNeverWaits) {
  const auto open = std::make_shared<ResponseStream>(
      ModelPass::Enter(model_), "", ResponseTarget{&Receive, &received_, nullptr, &no_room_});
  EXPECT_TRUE(open->HasCredit());
  int woken = 0;
  open->OnCredit([&] { ++woken; });
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(open->Send(nullptr, kResponseCompleteFinal).ok());
}

}  // namespace
}  // namespace nereid
