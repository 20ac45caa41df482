// SPDX-License-Identifier: Apache-2.0
// NEREID_ServerInferInline: short models execute on the thread that asks, others do not, and
// everything else is as with TRITONSERVER_ServerInferAsync.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nereid/server.h"
#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A request of one float, of which the test knows on which thread its callbacks run. `again`, if
// set, is called within the response callback.
class InlineCall {
 public:
  InlineCall(const TestServer& server, const std::string& model)
      : server_(server.get()), call_(server, model, &allocator_) {
    call_.AddFloats("INPUT0", {1, 1}, {42});
    EXPECT_TRUE(
        Ok(TRITONSERVER_InferenceRequestSetReleaseCallback(call_.request(), OnRelease, this)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetResponseCallback(
        call_.request(), allocator_.get(), &allocator_, OnResponse, this)));
  }
  ~InlineCall() { Wait(); }

  TRITONSERVER_InferenceRequest* request() const { return call_.request(); }
  TRITONSERVER_Error* Issue(decltype(TRITONSERVER_ServerInferAsync)* issue) {
    Arm();
    TRITONSERVER_Error* const error = issue(server_, request(), nullptr);
    if (error != nullptr) left_ = 0;
    return error;
  }
  // Whether both callbacks have run on this thread, when they were waited for.
  bool RanHere() {
    Wait();
    return released_by_ == std::this_thread::get_id() && answered_by_ == released_by_;
  }
  // The same without waiting.
  bool HasRunHere() const {
    std::lock_guard<std::mutex> lock(mu_);
    return left_ == 0 && released_by_ == std::this_thread::get_id();
  }

  std::function<void()> again;

 private:
  void Arm() {
    std::lock_guard<std::mutex> lock(mu_);
    left_ = 2;
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [this] { return left_ == 0; });
  }
  void OneDone(std::thread::id* by) {
    std::lock_guard<std::mutex> lock(mu_);
    *by = std::this_thread::get_id();
    --left_;
    changed_.notify_all();
  }
  static void OnRelease(TRITONSERVER_InferenceRequest*, uint32_t, void* userp) {
    auto* const self = static_cast<InlineCall*>(userp);
    self->OneDone(&self->released_by_);
  }
  static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t, void* userp) {
    auto* const self = static_cast<InlineCall*>(userp);
    if (self->again) std::exchange(self->again, nullptr)();
    EXPECT_THAT(Floats(Outputs(ResponsePtr(response)).at(0)), ElementsAre(42));
    self->OneDone(&self->answered_by_);
  }

  TRITONSERVER_Server* const server_;
  DiaryAllocator allocator_;
  Call call_;
  mutable std::mutex mu_;
  std::condition_variable changed_;
  int left_ = 0;
  std::thread::id released_by_, answered_by_;
};

class InlineTest : public testing::Test {
 protected:
  InlineTest() : repository_(MakeRepository()), server_(*repository_) {}

  // Calls until one is executed by this thread: first the model has to be measured, and on a busy
  // machine it may seem long for a while. The test's time-out ends a wait in vain.
  void AskUntilInline(const std::string& model) {
    InlineCall call(server_, model);
    do {
      ASSERT_TRUE(Ok(call.Issue(NEREID_ServerInferInline)));
    } while (!call.RanHere());
  }

  static std::unique_ptr<Repository> MakeRepository() {
    auto repository = std::make_unique<Repository>();
    repository->AddModel("single", IdentityConfig());
    repository->AddModel("batched", IdentityConfig("dynamic_batching { }\n"));
    repository->AddModel("forbidden", IdentityConfig(R"(
parameters { key: "nereid.inline_execution" value { string_value: "false" } })"));
    return repository;
  }

  std::unique_ptr<Repository> repository_;
  TestServer server_;
};

TEST_F(InlineTest, AShortModelExecutesOnTheCallersThread) {
  AskUntilInline("single");
  AskUntilInline("batched");
}

TEST_F(InlineTest, AModelThatForbidsItDoesNot) {
  InlineCall call(server_, "forbidden");
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(Ok(call.Issue(NEREID_ServerInferInline)));
    EXPECT_FALSE(call.RanHere());
  }
}

TEST_F(InlineTest, TheAsynchronousCallNeverExecutesOnTheCallersThread) {
  AskUntilInline("single");
  InlineCall call(server_, "single");
  for (int i = 0; i < 20; ++i) {
    // The same request in turns: a flight knows nothing of the thread that was lent to the last.
    ASSERT_TRUE(Ok(call.Issue(NEREID_ServerInferInline)));
    call.RanHere();
    ASSERT_TRUE(Ok(call.Issue(TRITONSERVER_ServerInferAsync)));
    EXPECT_FALSE(call.RanHere());
  }
}

TEST_F(InlineTest, ACallFromACallbackLendsNothing) {
  for (const std::string model : {"single", "batched"}) {
    AskUntilInline(model);
    InlineCall inner(server_, "single");
    InlineCall outer(server_, model);
    const std::thread::id caller = std::this_thread::get_id();
    bool outer_ran_here = false;
    do {
      outer.again = [&] {
        EXPECT_TRUE(Ok(inner.Issue(NEREID_ServerInferInline)));
        // The outer call may execute it later. On a busy machine the outer call may not be inline:
        // then this is the thread of an instance, within no call that lends it.
        if (std::this_thread::get_id() == caller) {
          EXPECT_FALSE(inner.HasRunHere()) << model;
        }
      };
      ASSERT_TRUE(Ok(outer.Issue(NEREID_ServerInferInline)));
      outer_ran_here = outer.RanHere();
      inner.RanHere();
    } while (!outer_ran_here);
  }
}

TEST_F(InlineTest, ARefusedRequestStaysWithItsOwner) {
  AskUntilInline("single");
  InlineCall call(server_, "single");
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddRequestedOutput(call.request(), "NOTHING")));
  EXPECT_TRUE(Fails(call.Issue(NEREID_ServerInferInline), TRITONSERVER_ERROR_INVALID_ARG,
                    "unexpected inference output 'NOTHING' for model 'single'"));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(call.request())));
  ASSERT_TRUE(Ok(call.Issue(NEREID_ServerInferInline)));
  call.RanHere();
}

TEST_F(InlineTest, ThreadsThatLendThemselvesAtTheSameTime) {
  AskUntilInline("batched");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      InlineCall call(server_, "batched");
      for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(Ok(call.Issue(NEREID_ServerInferInline)));
        call.RanHere();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(server_.Statistics("batched"), HasSubstr("\"inference_count\""));
}

}  // namespace
}  // namespace nereid_test
