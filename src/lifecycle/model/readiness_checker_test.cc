// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/readiness_checker.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace nereid {
namespace {

// A readiness check whose answer and duration the test sets. Thread-safe.
class FakeBackendCheck {
 public:
  std::optional<absl::Status> Answer() {
    MutexLock lock(&mu_);
    ++asked_;
    ++inside_;
    changed_.NotifyAll();
    while (hangs_) changed_.Wait(&mu_);
    --inside_;
    changed_.NotifyAll();
    return answer_;
  }
  Readiness::Check check() {
    return [this] { return Answer(); };
  }

  void Say(std::optional<absl::Status> answer) {
    MutexLock lock(&mu_);
    answer_ = std::move(answer);
  }
  void Hang(bool hangs) {
    MutexLock lock(&mu_);
    hangs_ = hangs;
    changed_.NotifyAll();
  }
  int asked() {
    MutexLock lock(&mu_);
    return asked_;
  }
  void AwaitInside() {
    MutexLock lock(&mu_);
    while (inside_ == 0) changed_.Wait(&mu_);
  }
  void AwaitAsked(int times) {
    MutexLock lock(&mu_);
    while (asked_ < times || inside_ > 0) changed_.Wait(&mu_);
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::optional<absl::Status> answer_ ABSL_GUARDED_BY(mu_) = absl::OkStatus();
  bool hangs_ ABSL_GUARDED_BY(mu_) = false;
  int asked_ ABSL_GUARDED_BY(mu_) = 0;
  int inside_ ABSL_GUARDED_BY(mu_) = 0;
};

class ReadinessCheckerTest : public ::testing::Test {
 protected:
  ~ReadinessCheckerTest() override {
    for (FakeBackendCheck* const backend : {&a_, &b_}) backend->Hang(false);
    for (FakeBackendCheck& backend : others_) backend.Hang(false);
  }

  // Advances the clock once the checker waits for a time.
  void Pass(Duration time) {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
    clock_.Advance(time);
  }
  // Probes until the readiness of `model` is `ready`.
  static void AwaitReady(Readiness* model, bool ready) {
    while (model->Probe().ok() != ready) std::this_thread::yield();
  }

  FakeClock clock_;
  FakeBackendCheck a_;
  FakeBackendCheck b_;
  std::array<FakeBackendCheck, ReadinessChecker::kChecks + 3> others_;
  ReadinessChecker checker_{&clock_};  // last: destroyed before the checks that it calls
};

TEST_F(ReadinessCheckerTest, TheFirstAnswerIsThereAtOnce) {
  a_.Say(absl::InternalError("no"));
  const auto a = checker_.Add("'a'", a_.check());
  EXPECT_EQ(a->Probe(), absl::InternalError("no"));
  EXPECT_TRUE(checker_.Add("'b'", b_.check())->Probe().ok());
}

TEST_F(ReadinessCheckerTest, AnAnswerIsRenewedOncePerPeriod) {
  const auto a = checker_.Add("'a'", a_.check());
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(a->Probe().ok());
  EXPECT_EQ(a_.asked(), 1);
  a_.Say(absl::InternalError("no"));
  Pass(ReadinessChecker::kPeriod);
  AwaitReady(a.get(), false);
  EXPECT_EQ(a->Probe(), absl::InternalError("no"));
  EXPECT_EQ(a_.asked(), 2);
  a_.Say(absl::OkStatus());
  Pass(ReadinessChecker::kPeriod);
  AwaitReady(a.get(), true);
  EXPECT_EQ(a_.asked(), 3);
}

TEST_F(ReadinessCheckerTest, NobodyIsAskedWhileNobodyProbes) {
  const auto a = checker_.Add("'a'", a_.check());
  Pass(ReadinessChecker::kPeriod);
  // The checker now waits without a deadline, because it has nothing to do.
  while (clock_.TimedWaiters() > 0) std::this_thread::yield();
  clock_.Advance(std::chrono::hours(1));
  EXPECT_EQ(a_.asked(), 1);
  // The next probe gets the last answer, and makes the checker get a new one for later probes.
  a_.Say(absl::InternalError("no"));
  EXPECT_TRUE(a->Probe().ok());
  AwaitReady(a.get(), false);
}

TEST_F(ReadinessCheckerTest, TheyAreAskedForAWhileAfterAProbe) {
  const auto a = checker_.Add("'a'", a_.check());
  EXPECT_TRUE(a->Probe().ok());
  const int periods = static_cast<int>(ReadinessChecker::kAttention / ReadinessChecker::kPeriod);
  for (int i = 1; i <= periods; ++i) {
    Pass(ReadinessChecker::kPeriod);
    a_.AwaitAsked(1 + i);
  }
  Pass(ReadinessChecker::kPeriod);
  while (clock_.TimedWaiters() > 0) std::this_thread::yield();
  EXPECT_EQ(a_.asked(), 1 + periods);
}

TEST_F(ReadinessCheckerTest, ACheckThatHangsMakesItsModelNotReady) {
  const auto a = checker_.Add("'a'", a_.check());
  const auto b = checker_.Add("'b'", b_.check());
  a_.Hang(true);
  EXPECT_TRUE(a->Probe().ok());
  Pass(ReadinessChecker::kPeriod);
  a_.AwaitInside();
  EXPECT_TRUE(a->Probe().ok()) << "not yet";
  for (int i = 0; i < 5; ++i) Pass(ReadinessChecker::kPeriod);
  AwaitReady(a.get(), false);
  EXPECT_EQ(a->Probe(),
            absl::UnavailableError(
                "the backend has not answered TRITONBACKEND_ModelInstanceReady for 5 s"));
  EXPECT_EQ(a_.asked(), 2) << "one check at a time";
  // The other model is checked meanwhile.
  b_.Say(absl::InternalError("no"));
  b->Probe().IgnoreError();
  AwaitReady(b.get(), false);
  // When the check returns at last, its answer counts.
  a_.Hang(false);
  AwaitReady(a.get(), true);
}

TEST_F(ReadinessCheckerTest, AModelWhoseFirstCheckHangsIsAddedNotReady) {
  a_.Hang(true);
  std::thread time([&] {
    a_.AwaitInside();
    for (int i = 0; i < 5; ++i) Pass(ReadinessChecker::kPeriod);
  });
  const auto a = checker_.Add("'a'", a_.check());
  time.join();
  EXPECT_FALSE(a->Probe().ok());
}

TEST_F(ReadinessCheckerTest, ManyChecksThatHangHoldUpNobody) {
  std::vector<std::shared_ptr<Readiness>> models;
  for (FakeBackendCheck& other : others_) models.push_back(checker_.Add("'h'", other.check()));
  const auto a = checker_.Add("'a'", a_.check());
  a_.Say(absl::InternalError("no"));
  for (FakeBackendCheck& other : others_) other.Hang(true);
  for (const auto& model : models) EXPECT_TRUE(model->Probe().ok());
  while (a->Probe() != absl::InternalError("no")) {
    if (clock_.TimedWaiters() > 0) clock_.Advance(std::chrono::milliseconds(100));
    std::this_thread::yield();
  }
}

TEST_F(ReadinessCheckerTest, AModelThatIsGoneIsAskedNoMore) {
  const auto a = checker_.Add("'a'", a_.check());
  EXPECT_TRUE(a->Probe().ok());
  a_.Say(std::nullopt);
  Pass(ReadinessChecker::kPeriod);
  a_.AwaitAsked(2);
  Pass(ReadinessChecker::kPeriod);
  while (clock_.TimedWaiters() > 0) std::this_thread::yield();
  EXPECT_TRUE(a->Probe().ok());
  EXPECT_EQ(a_.asked(), 2);
}

}  // namespace
}  // namespace nereid
