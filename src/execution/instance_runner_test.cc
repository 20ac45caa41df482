// SPDX-License-Identifier: Apache-2.0
#include "execution/instance_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/testing/puller.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

// A source of the batches that the test puts in. Thread-safe.
class ScriptedSource final : public BatchSource {
 public:
  Batch Pull(BatchExecutor*, std::optional<Duration>) override {
    MutexLock lock(&mu_);
    ++pulls_;
    timer_slack_ns_ = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    changed_.NotifyAll();
    while (batches_.empty() && !closed_) changed_.Wait(&mu_);
    if (batches_.empty()) return {};
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    return batch;
  }
  void Put(Batch batch) {
    MutexLock lock(&mu_);
    batches_.push_back(std::move(batch));
    changed_.NotifyAll();
  }
  void Close() {
    MutexLock lock(&mu_);
    closed_ = true;
    changed_.NotifyAll();
  }
  // That of the thread that pulled last.
  int timer_slack_ns() const {
    MutexLock lock(&mu_);
    return timer_slack_ns_;
  }
  int pulls() const {
    MutexLock lock(&mu_);
    return pulls_;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Batch> batches_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int pulls_ ABSL_GUARDED_BY(mu_) = 0;
  int timer_slack_ns_ ABSL_GUARDED_BY(mu_) = 0;
};

// What happened to an instance. Outlives the instance. Thread-safe.
class Journal {
 public:
  void Note(std::string what) {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    MutexLock lock(&mu_);
    events_.push_back(std::move(what));
    threads_.push_back(std::this_thread::get_id());
    thread_name_ = name;
  }
  std::vector<std::string> events() const {
    MutexLock lock(&mu_);
    return events_;
  }
  std::vector<std::thread::id> threads() const {
    MutexLock lock(&mu_);
    return threads_;
  }
  std::string thread_name() const {
    MutexLock lock(&mu_);
    return thread_name_;
  }

 private:
  mutable Mutex mu_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread::id> threads_ ABSL_GUARDED_BY(mu_);
  std::string thread_name_ ABSL_GUARDED_BY(mu_);
};

class FakeInstance final : public Instance {
 public:
  FakeInstance(Journal* journal, absl::Status initialize)
      : journal_(journal), initialize_(std::move(initialize)) {}
  ~FakeInstance() override { journal_->Note("destroyed"); }

  absl::Status Initialize() override {
    journal_->Note("initialize");
    return initialize_;
  }
  Duration Execute(Batch batch) override {
    journal_->Note("execute " + std::to_string(batch.size()));
    FinishBatch(std::move(batch));
    return Duration(1);
  }
  void Finalize() override { journal_->Note("finalize"); }

 private:
  Journal* const journal_;
  const absl::Status initialize_;
};

class InstanceRunnerTest : public ::testing::Test {
 protected:
  void Start(absl::Status initialize = absl::OkStatus(), InstanceSetup setup = {}) {
    runner_ = std::make_unique<InstanceRunner>(
        "model_0_with_a_long_name", std::make_unique<FakeInstance>(&journal_, initialize), &source_,
        std::move(setup));
  }
  // Additional steps that note their names in the journal and return `before` and `after`.
  InstanceSetup Setup(absl::Status before, absl::Status after) {
    InstanceSetup setup;
    setup.before = [this, before] {
      journal_.Note("before");
      return before;
    };
    setup.after = [this, after](Instance* instance) {
      EXPECT_NE(instance, nullptr);
      journal_.Note("after");
      return after;
    };
    return setup;
  }

  TestRequest& Put() {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    Batch batch;
    batch.push_back(requests_.back()->Issue());
    source_.Put(std::move(batch));
    return *requests_.back();
  }

  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(ModelBuilder("m"));
  std::deque<std::unique_ptr<TestRequest>> requests_;
  ScriptedSource source_;
  Journal journal_;
  std::unique_ptr<InstanceRunner> runner_;
};

TEST_F(InstanceRunnerTest, AnInstanceLivesThroughItsLifeInOrder) {
  Start();
  EXPECT_TRUE(runner_->WaitInitialized().ok());
  runner_->Serve();
  TestRequest& first = Put();
  TestRequest& second = Put();
  first.WaitDone();
  second.WaitDone();
  source_.Close();
  runner_.reset();
  EXPECT_THAT(journal_.events(),
              ElementsAre("initialize", "execute 1", "execute 1", "finalize", "destroyed"));
}

TEST_F(InstanceRunnerTest, EverythingButItsEndHappensOnOneThreadOfItsOwn) {
  Start();
  runner_->Serve();
  Put().WaitDone();
  source_.Close();
  runner_.reset();
  const std::vector<std::thread::id> threads = journal_.threads();
  ASSERT_EQ(threads.size(), 4u);
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_EQ(threads[1], threads[0]);
  EXPECT_EQ(threads[2], threads[0]);
}

TEST_F(InstanceRunnerTest, TheThreadIsNamedAfterTheInstance) {
  Start();
  ASSERT_TRUE(runner_->WaitInitialized().ok());
  runner_->Serve();
  Put().WaitDone();
  EXPECT_EQ(journal_.thread_name(), "model_0_with_a_");
  source_.Close();
}

TEST_F(InstanceRunnerTest, QueueDelaysAreNotLengthenedByTheKernel) {
  Start();
  runner_->Serve();
  Put().WaitDone();
  EXPECT_EQ(source_.timer_slack_ns(), 1);
  source_.Close();
}

TEST_F(InstanceRunnerTest, AnInstanceDoesNotPullBeforeItMay) {
  Start();
  TestRequest& request = Put();
  ASSERT_TRUE(runner_->WaitInitialized().ok());
  EXPECT_EQ(source_.pulls(), 0);
  runner_->Serve();
  request.WaitDone();
  source_.Close();
}

TEST_F(InstanceRunnerTest, AFailedInitialisationIsToldAndNothingFollows) {
  Start(absl::InternalError("no device"));
  EXPECT_EQ(runner_->WaitInitialized(), absl::InternalError("no device"));
  EXPECT_EQ(runner_->WaitInitialized(), absl::InternalError("no device"))
      << "also when asked again";
  runner_->Serve();
  runner_.reset();
  EXPECT_THAT(journal_.events(), ElementsAre("initialize", "destroyed"));
  EXPECT_EQ(source_.pulls(), 0);
}

TEST_F(InstanceRunnerTest, WhatTheThreadDoesBesidesComesBeforeItServes) {
  Start(absl::OkStatus(), Setup(absl::OkStatus(), absl::OkStatus()));
  ASSERT_TRUE(runner_->WaitInitialized().ok());
  const std::vector<std::thread::id> threads = journal_.threads();
  EXPECT_THAT(journal_.events(), ElementsAre("before", "initialize", "after"));
  EXPECT_EQ(threads[0], threads[1]);
  EXPECT_EQ(threads[2], threads[1]);
}

TEST_F(InstanceRunnerTest, AnErrorBeforeLeavesTheInstanceAlone) {
  Start(absl::OkStatus(), Setup(absl::InternalError("no processor"), absl::OkStatus()));
  EXPECT_EQ(runner_->WaitInitialized(), absl::InternalError("no processor"));
  runner_.reset();
  EXPECT_THAT(journal_.events(), ElementsAre("before", "destroyed"));
}

TEST_F(InstanceRunnerTest, AnErrorAfterwardsFinalisesIt) {
  Start(absl::OkStatus(), Setup(absl::OkStatus(), absl::InternalError("cold")));
  EXPECT_EQ(runner_->WaitInitialized(), absl::InternalError("cold"));
  runner_->Serve();
  runner_.reset();
  EXPECT_THAT(journal_.events(),
              ElementsAre("before", "initialize", "after", "finalize", "destroyed"));
  EXPECT_EQ(source_.pulls(), 0);
}

TEST_F(InstanceRunnerTest, WithoutServingItFinalisesAllTheSame) {
  Start();
  ASSERT_TRUE(runner_->WaitInitialized().ok());
  runner_.reset();
  EXPECT_THAT(journal_.events(), ElementsAre("initialize", "finalize", "destroyed"));
  EXPECT_EQ(source_.pulls(), 0);
}

TEST_F(InstanceRunnerTest, WhatTheSourceStillHasIsExecutedBeforeTheEnd) {
  Start();
  TestRequest& request = Put();
  source_.Close();
  runner_->Serve();
  runner_.reset();
  EXPECT_EQ(request.releases(), 1);
  EXPECT_THAT(journal_.events(), ElementsAre("initialize", "execute 1", "finalize", "destroyed"));
}

}  // namespace
}  // namespace nereid
