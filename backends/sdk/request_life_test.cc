// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/request_life.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

// The server's end of a request, which the test plays.
struct TRITONSERVER_InferenceRequest {
  TRITONSERVER_InferenceRequestReleaseFn_t release = nullptr;
  void* release_userp = nullptr;
  TRITONSERVER_InferenceResponseCompleteFn_t respond = nullptr;
  void* respond_userp = nullptr;
  int cancelled = 0;
  void (*on_cancel)(TRITONSERVER_InferenceRequest*) = nullptr;

  void Release() { release(this, TRITONSERVER_REQUEST_RELEASE_ALL, release_userp); }
  void Respond(bool final) {
    respond(nullptr, final ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0, respond_userp);
  }
};

namespace {
int deleted = 0;
}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceRequestDelete(TRITONSERVER_InferenceRequest* request) {
  ++deleted;
  delete request;
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_InferenceRequestCancel(TRITONSERVER_InferenceRequest* request) {
  ++request->cancelled;
  if (request->on_cancel != nullptr) request->on_cancel(request);
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetReleaseCallback(
    TRITONSERVER_InferenceRequest* request, TRITONSERVER_InferenceRequestReleaseFn_t release,
    void* userp) {
  request->release = release;
  request->release_userp = userp;
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetResponseCallback(
    TRITONSERVER_InferenceRequest* request, TRITONSERVER_ResponseAllocator*, void*,
    TRITONSERVER_InferenceResponseCompleteFn_t respond, void* userp) {
  request->respond = respond;
  request->respond_userp = userp;
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(TRITONSERVER_Server*,
                                                  TRITONSERVER_InferenceRequest*,
                                                  TRITONSERVER_InferenceTrace*) {
  return nullptr;
}

}  // extern "C"

namespace nereid_backend {
namespace {

class Life final : public RequestLife {
 public:
  Life() { *draft() = new TRITONSERVER_InferenceRequest; }
  TRITONSERVER_InferenceRequest* server() { return *draft(); }
  TRITONSERVER_Error* Send(Infer infer = &TRITONSERVER_ServerInferAsync) {
    return Issue(infer, nullptr, nullptr, {nullptr});
  }

  std::vector<std::string> heard() {
    const std::lock_guard lock(mu_);
    return heard_;
  }

 private:
  void Hear(const char* what) {
    const std::lock_guard lock(mu_);
    heard_.emplace_back(what);
  }
  void OnResponse(TRITONSERVER_InferenceResponse*, bool final) override {
    Hear(final ? "final" : "response");
  }
  void OnReleased(TRITONSERVER_InferenceRequest*) override { Hear("released"); }
  void OnEnded() override { Hear("ended"); }

  std::mutex mu_;
  std::vector<std::string> heard_;  // guarded by mu_
};

class RequestLifeTest : public ::testing::Test {
 protected:
  RequestLifeTest() { deleted = 0; }
};

using Heard = std::vector<std::string>;

TEST_F(RequestLifeTest, EndsWithTheLaterOfBothEnds) {
  Life one;
  ASSERT_EQ(one.Send(), nullptr);
  one.server()->Respond(true);
  EXPECT_EQ(deleted, 0);
  one.server()->Release();
  EXPECT_EQ(one.heard(), (Heard{"final", "released", "ended"}));
  EXPECT_EQ(deleted, 1);

  Life many;
  ASSERT_EQ(many.Send(), nullptr);
  many.server()->Release();
  many.server()->Respond(false);
  EXPECT_EQ(deleted, 1);
  many.server()->Respond(true);
  EXPECT_EQ(many.heard(), (Heard{"released", "response", "final", "ended"}));
  EXPECT_EQ(deleted, 2);
}

TEST_F(RequestLifeTest, CanBeCancelledUntilTheLastResponse) {
  Life life;
  ASSERT_EQ(life.Send(), nullptr);
  life.server()->Release();
  life.server()->Respond(false);
  life.Cancel();
  EXPECT_EQ(life.server()->cancelled, 1);
  life.Cancel();
  EXPECT_EQ(life.server()->cancelled, 1) << "once is enough";
  life.server()->Respond(true);
  EXPECT_EQ(deleted, 1);
  life.Cancel();  // there is nothing left to cancel
}

TEST_F(RequestLifeTest, TheEndsMayComeWithinTheCancel) {
  Life life;
  ASSERT_EQ(life.Send(), nullptr);
  life.server()->on_cancel = [](TRITONSERVER_InferenceRequest* request) {
    request->Respond(true);
    request->Release();
    EXPECT_EQ(deleted, 0) << "the request is in use";
  };
  life.Cancel();
  EXPECT_EQ(life.heard(), (Heard{"final", "released", "ended"}));
  EXPECT_EQ(deleted, 1);
}

TEST_F(RequestLifeTest, TheEndsMayComeWithinTheIssue) {
  Life life;
  const auto at_once = [](TRITONSERVER_Server*, TRITONSERVER_InferenceRequest* request,
                          TRITONSERVER_InferenceTrace*) -> TRITONSERVER_Error* {
    request->Respond(true);
    request->Release();
    EXPECT_EQ(deleted, 0);
    return nullptr;
  };
  ASSERT_EQ(life.Send(at_once), nullptr);
  EXPECT_EQ(life.heard(), (Heard{"final", "released", "ended"}));
  EXPECT_EQ(deleted, 1);
}

TEST_F(RequestLifeTest, ACancelBeforeTheIssueFollowsIt) {
  Life life;
  life.Cancel();
  EXPECT_EQ(life.server()->cancelled, 0);
  ASSERT_EQ(life.Send(), nullptr);
  EXPECT_EQ(life.server()->cancelled, 1);
  life.server()->Release();
  life.server()->Respond(true);
  EXPECT_EQ(deleted, 1);
}

TEST_F(RequestLifeTest, ARefusedRequestIsADraftAgain) {
  {
    Life life;
    const auto refuse = [](TRITONSERVER_Server*, TRITONSERVER_InferenceRequest*,
                           TRITONSERVER_InferenceTrace*) {
      return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "full");
    };
    TRITONSERVER_Error* const refused = life.Send(refuse);
    ASSERT_NE(refused, nullptr);
    TRITONSERVER_ErrorDelete(refused);
    EXPECT_EQ(life.heard(), Heard{});
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

// For ThreadSanitizer: cancel, release and last response on three threads.
TEST_F(RequestLifeTest, AllAtTheSameTime) {
  for (int round = 0; round < 200; ++round) {
    Life life;
    ASSERT_EQ(life.Send(), nullptr);
    TRITONSERVER_InferenceRequest* const request = life.server();
    std::thread releases([&] { request->Release(); });
    std::thread cancels([&] { life.Cancel(); });
    std::thread answers([&] { request->Respond(true); });
    releases.join();
    cancels.join();
    answers.join();
    EXPECT_EQ(deleted, round + 1);
  }
}

}  // namespace
}  // namespace nereid_backend
