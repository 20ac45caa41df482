// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_registry.h"
#include "backend_host/testing/fake_backend.h"
#include "backend_host/testing/test_config.h"
#include "base/wake_batch.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "nereid/backend.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

class BackendInstanceTest : public ::testing::Test {
 protected:
  void Use(const std::string& name) {
    ParsedConfig config = MakeTestConfig(name, "fake");
    auto backend = registry_.Get(config, "", 1);
    ASSERT_TRUE(backend.ok()) << backend.status();
    model_ = std::make_unique<BackendModel>(*backend, std::move(config), BackendModelOptions());
    ASSERT_TRUE(model_->Initialize().ok());
    serving_ = FakeModel::Make(ModelBuilder(name));
    model_->set_serving_model(serving_.get());
    InstanceSpec spec;
    spec.name = name + "_0_0";
    instance_ = std::make_unique<BackendInstance>(model_.get(), spec, 0, 1, R"({"cpu":{}})");
    fake_.Forget();
  }

  // Executes a batch of `count` new requests.
  void Execute(int count) {
    Batch batch;
    for (int i = 0; i < count; ++i) {
      requests_.push_back(std::make_unique<TestRequest>(serving_));
      batch.push_back(requests_.back()->Issue());
    }
    instance_->Execute(std::move(batch));
  }

  void ExpectEachAnsweredOnce() {
    for (const auto& request : requests_) {
      EXPECT_EQ(request->releases(), 1);
      EXPECT_EQ(request->answer_count(), 1u);
    }
    EXPECT_EQ(serving_->statistics().Snapshot().pending, 0);
    EXPECT_EQ(serving_->lifetime().inside(), 0);
  }

  FakeBackend fake_;
  BackendRegistry registry_{{.directory = NEREID_TEST_PLUGINS, .settings = {}}};
  std::unique_ptr<BackendModel> model_;
  std::shared_ptr<FakeModel> serving_;
  std::unique_ptr<BackendInstance> instance_;
  std::vector<std::unique_ptr<TestRequest>> requests_;
};

TEST_F(BackendInstanceTest, InitialisesAndFinalisesTheBackendsInstance) {
  Use("m");
  ASSERT_TRUE(instance_->Initialize().ok());
  EXPECT_TRUE(instance_->CheckReady().ok());
  instance_->Finalize();
  EXPECT_THAT(fake_.Journal(), ElementsAre("instance_initialize m_0_0", "instance_finalize m_0_0"));
}

TEST_F(BackendInstanceTest, TellsItsHostPolicy) {
  Use("m");
  EXPECT_EQ(instance_->host_policy()->json, R"({"cpu":{}})");
}

TEST_F(BackendInstanceTest, TakesAsManySeparateRequestsAsItsBackendSays) {
  Use("m");
  auto* const handle = reinterpret_cast<TRITONBACKEND_ModelInstance*>(instance_.get());
  EXPECT_EQ(instance_->most_separate(), 1u);
  EXPECT_EQ(NEREID_ModelInstanceSetMostSeparate(handle, 5), nullptr);
  EXPECT_EQ(instance_->most_separate(), 5u);
  TRITONSERVER_Error* const refused = NEREID_ModelInstanceSetMostSeparate(handle, 0);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(TRITONSERVER_ErrorCode(refused), TRITONSERVER_ERROR_INVALID_ARG);
  TRITONSERVER_ErrorDelete(refused);
  EXPECT_EQ(instance_->most_separate(), 5u);
}

TEST_F(BackendInstanceTest, IsLentUnlessItsBackendForbidsIt) {
  Use("m");
  auto* const handle = reinterpret_cast<TRITONBACKEND_ModelInstance*>(instance_.get());
  EXPECT_TRUE(instance_->lendable());
  for (const bool lendable : {false, true}) {
    EXPECT_EQ(NEREID_ModelInstanceSetLendable(handle, lendable), nullptr);
    EXPECT_EQ(instance_->lendable(), lendable);
  }
}

TEST_F(BackendInstanceTest, YieldsWhileItCannotExecuteAndAnotherCan) {
  Use("m");
  ASSERT_TRUE(instance_->Initialize().ok());
  BackendInstance other(model_.get(), InstanceSpec(), 1, 2, "{}");
  ASSERT_TRUE(other.Initialize().ok());
  EXPECT_EQ(model_->available_instances(), 2);
  auto* const handle = reinterpret_cast<TRITONBACKEND_ModelInstance*>(instance_.get());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(NEREID_ModelInstanceSetAvailable(handle, false), nullptr);
  EXPECT_EQ(model_->available_instances(), 1);
  EXPECT_TRUE(instance_->yields());
  EXPECT_FALSE(instance_->lendable());
  EXPECT_FALSE(other.yields());
  other.set_available(false);
  EXPECT_FALSE(instance_->yields()) << "nobody else would answer";
  EXPECT_TRUE(instance_->lendable());
  other.set_available(true);
  EXPECT_TRUE(instance_->yields());
  other.Finalize();
  EXPECT_FALSE(instance_->yields());
  EXPECT_EQ(NEREID_ModelInstanceSetAvailable(handle, true), nullptr);
  EXPECT_EQ(model_->available_instances(), 1);
  instance_->Finalize();
  EXPECT_EQ(model_->available_instances(), 0);
}

TEST_F(BackendInstanceTest, APassiveInstanceDoesNoOthersWork) {
  Use("m");
  ASSERT_TRUE(instance_->Initialize().ok());
  InstanceSpec passive;
  passive.passive = true;
  BackendInstance other(model_.get(), passive, 1, 2, "{}");
  ASSERT_TRUE(other.Initialize().ok());
  instance_->set_available(false);
  EXPECT_FALSE(instance_->yields());
  other.Finalize();
  instance_->Finalize();
}

TEST_F(BackendInstanceTest, ABackendLearnsWhetherTheThreadHasTheInstanceOnLoan) {
  Use("brief");
  for (const bool by_caller : {false, true, false}) {
    requests_.push_back(std::make_unique<TestRequest>(serving_));
    Batch batch;
    batch.push_back(requests_.back()->Issue());
    batch.origin.by_caller = by_caller;
    instance_->Execute(std::move(batch));
  }
  EXPECT_THAT(fake_.Journal(), ElementsAre("execute", "execute on loan", "execute"));
}

TEST_F(BackendInstanceTest, WhatIsSentTogetherWakesOthersAfterwards) {
  int sent = 0;
  EXPECT_EQ(NEREID_SendTogether(
                [](void* userp) {
                  EXPECT_TRUE(WakeBatch::IsOpen());
                  ++*static_cast<int*>(userp);
                },
                &sent),
            nullptr);
  EXPECT_EQ(sent, 1);
  EXPECT_FALSE(WakeBatch::IsOpen());
}

TEST_F(BackendInstanceTest, ABackendLearnsWhetherMoreResponsesAreWanted) {
  Use("m");
  const auto credit =
      std::make_shared<ResponseCredit>(std::make_shared<ResponseCredit::Account>(0), 100);
  TestRequest request(serving_);
  request.set_credit(credit);
  RequestPtr owned = request.Issue();
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  ASSERT_EQ(TRITONBACKEND_ResponseFactoryNew(&factory,
                                             reinterpret_cast<TRITONBACKEND_Request*>(owned.get())),
            nullptr);
  const auto has_credit = [&] {
    bool has = false;
    EXPECT_EQ(NEREID_ResponseFactoryCredit(factory, &has), nullptr);
    return has;
  };
  int calls = 0;
  const auto await = [&] {
    EXPECT_EQ(NEREID_ResponseFactoryOnCredit(
                  factory, [](void* userp) { ++*static_cast<int*>(userp); }, &calls),
              nullptr);
  };
  EXPECT_TRUE(has_credit());
  await();
  EXPECT_EQ(calls, 1);
  credit->Withdraw();
  EXPECT_FALSE(has_credit());
  await();
  EXPECT_EQ(calls, 1);
  credit->Give().Call();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(has_credit());
  credit->Withdraw();
  await();
  // The callback comes even if the backend gives everything up.
  EXPECT_EQ(TRITONBACKEND_ResponseFactoryDelete(factory), nullptr);
  owned.reset();
  EXPECT_EQ(calls, 3);
  request.WaitDone();
}

TEST_F(BackendInstanceTest, ABackendThatIsNotReadySaysSo) {
  Use("not_ready");
  EXPECT_EQ(instance_->CheckReady(), absl::InternalError("the fake backend is not ready"));
}

TEST_F(BackendInstanceTest, AGoodBackendAnswersEveryRequest) {
  Use("m");
  Execute(3);
  ExpectEachAnsweredOnce();
  for (const auto& request : requests_) EXPECT_TRUE(request->final_status().ok());
}

// A request's maker that reuses the request at once, for something else.
struct Reuse {
  explicit Reuse(TestRequest* request) : usual((*request)->release_target()) {
    ReleaseTarget target;
    target.fn = [](InferRequest* released, uint32_t flags, const ReleaseTarget& self) {
      released->set_id("another's");
      const ReleaseTarget& usual = static_cast<Reuse*>(self.userp)->usual;
      usual.fn(released, flags, usual);
    };
    target.userp = this;
    (*request)->set_release_target(target);
  }
  const ReleaseTarget usual;
};

TEST_F(BackendInstanceTest, ARequestThatExecuteReleasesComesBackWhenItHasReturned) {
  Use("uses_released");
  Batch batch;
  std::vector<std::unique_ptr<Reuse>> makers;
  for (const char* id : {"one", "two"}) {
    requests_.push_back(std::make_unique<TestRequest>(serving_));
    (*requests_.back())->set_id(id);
    makers.push_back(std::make_unique<Reuse>(requests_.back().get()));
    batch.push_back(requests_.back()->Issue());
  }
  instance_->Execute(std::move(batch));
  EXPECT_THAT(fake_.Journal(),
              ElementsAre("id one", "reported", "the request was released before", "id two",
                          "reported", "the request was released before"));
  ExpectEachAnsweredOnce();
  EXPECT_EQ(serving_->statistics().Snapshot().success.count, 2u);
}

TEST_F(BackendInstanceTest, AnErrorAnswersEveryRequest) {
  Use("execute_error");
  Execute(3);
  ExpectEachAnsweredOnce();
  for (const auto& request : requests_) {
    EXPECT_EQ(request->final_status(), absl::InternalError("the fake backend failed"));
  }
  const StatisticsSnapshot statistics = serving_->statistics().Snapshot();
  EXPECT_EQ(statistics.failures[static_cast<size_t>(FailureReason::kBackend)], 3u);
}

TEST_F(BackendInstanceTest, AnErrorAfterSomeWereReleasedAnswersTheOthers) {
  Use("execute_error_late");
  Execute(3);
  ExpectEachAnsweredOnce();
  EXPECT_TRUE(requests_[0]->final_status().ok());
  for (const int i : {1, 2}) {
    EXPECT_EQ(requests_[i]->final_status(), absl::InternalError("the fake backend failed late"));
  }
  EXPECT_EQ(serving_->statistics().Snapshot().fail.count, 2u);
}

TEST_F(BackendInstanceTest, AnExceptionAnswersEveryRequest) {
  Use("execute_throws");
  Execute(2);
  ExpectEachAnsweredOnce();
  for (const auto& request : requests_) {
    EXPECT_EQ(request->final_status(),
              absl::InternalError("backend 'fake' threw an exception in "
                                  "TRITONBACKEND_ModelInstanceExecute of model "
                                  "'execute_throws': thrown while executing"));
  }
}

TEST_F(BackendInstanceTest, ABackendMayKeepRequestsAndTakeMore) {
  Use("holds");
  Execute(2);
  Execute(1);
  for (const auto& request : requests_) EXPECT_EQ(request->releases(), 0);
  EXPECT_EQ(serving_->lifetime().inside(), 3);
  fake_.LetGo();
  ExpectEachAnsweredOnce();
}

}  // namespace
}  // namespace nereid
