// SPDX-License-Identifier: Apache-2.0
// The order of requests, what they share, and what they wait for, with attempts that the test ends.
#include "lifecycle/control_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Kind = ModelChange::Kind;

size_t ThreadCount() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

class ControlRequestsTest : public ::testing::Test {
 protected:
  struct Attempt {
    std::string text;  // "load m", with the configuration if there is one
    ControlRequests::Ended ended;
  };

  // Ends what the test has left.
  ~ControlRequestsTest() override {
    std::map<std::string, Attempt> left;
    {
      MutexLock lock(&mu_);
      ends_at_once_ = true;
      left.swap(attempts_);
    }
    for (const auto& [model, attempt] : left) attempt.ended(absl::OkStatus());
    left.clear();
    requests_->Drain();
  }

  ControlRequests* Make(ControlRequests::Limits limits = {}) {
    requests_ = std::make_unique<ControlRequests>(
        ControlRequests::Options{[this](const ModelChange& change, ControlRequests::Ended ended) {
                                   return Begin(change, std::move(ended));
                                 },
                                 [this](const ModelId& id) {
                                   MutexLock lock(&mu_);
                                   return busy_.count(id.name) > 0;
                                 },
                                 limits});
    return requests_.get();
  }

  std::optional<ModelId> Begin(const ModelChange& change, ControlRequests::Ended ended) {
    std::string text = (change.kind == Kind::kLoad ? "load " : "unload ") + change.model;
    if (change.override.config_json.has_value()) text += " " + *change.override.config_json;
    {
      MutexLock lock(&mu_);
      begun_.push_back(text);
      changed_.NotifyAll();
      if (throws_) throw std::bad_alloc();
      const auto busy = busy_.find(needs_[change.model]);
      if (closes_) requests_->Close(absl::UnavailableError("closed"));
      if (busy != busy_.end()) return ModelId{"", *busy};
      if (!ends_at_once_) {
        attempts_[change.model] = {std::move(text), std::move(ended)};
        changed_.NotifyAll();
        return std::nullopt;
      }
    }
    ended(absl::OkStatus());
    return std::nullopt;
  }

  // Waits until so many attempts have begun, and returns them.
  std::vector<std::string> Begun(size_t count) {
    MutexLock lock(&mu_);
    while (begun_.size() < count) changed_.Wait(&mu_);
    return begun_;
  }

  // Waits until an attempt for `model` is under way, and ends it.
  void End(const std::string& model, const absl::Status& status = absl::OkStatus()) {
    ControlRequests::Ended ended;
    {
      MutexLock lock(&mu_);
      while (attempts_.count(model) == 0) changed_.Wait(&mu_);
      ended = std::move(attempts_.extract(model).mapped().ended);
    }
    ended(status);
  }

  void SetBusy(const std::string& model, bool busy) {
    {
      MutexLock lock(&mu_);
      if (busy) busy_.insert(model);
      if (!busy) busy_.erase(model);
    }
    if (!busy) requests_->OnReleased({"", model});
  }

  // Submits a change; its end is noted under `name`.
  void Submit(ModelChange change, const std::string& name,
              std::shared_ptr<ControlClient> client = nullptr) {
    requests_->Submit(std::move(change), std::move(client),
                      [this, name](const absl::Status& status, bool begun) {
                        MutexLock lock(&mu_);
                        ends_[name] = status;
                        begun_for_[name] = begun;
                        changed_.NotifyAll();
                      });
  }
  std::shared_ptr<ControlClient> SubmitOfClient(ModelChange change, const std::string& name) {
    auto client = std::make_shared<ControlClient>();
    Submit(std::move(change), name, client);
    return client;
  }

  absl::Status EndOf(const std::string& name) {
    MutexLock lock(&mu_);
    while (ends_.count(name) == 0) changed_.Wait(&mu_);
    return ends_[name];
  }
  bool HasEnded(const std::string& name) {
    MutexLock lock(&mu_);
    return ends_.count(name) > 0;
  }
  bool BegunFor(const std::string& name) {
    MutexLock lock(&mu_);
    return begun_for_[name];
  }

  static ModelChange Load(const std::string& model, const std::string& config = "") {
    ModelChange change{Kind::kLoad, model, {}};
    if (!config.empty()) change.override.config_json = config;
    return change;
  }
  static ModelChange Unload(const std::string& model) { return {Kind::kUnload, model, {}}; }

  Mutex mu_;
  CondVar changed_;
  std::vector<std::string> begun_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Attempt> attempts_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, absl::Status> ends_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, bool> begun_for_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> busy_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::string> needs_ ABSL_GUARDED_BY(mu_);  // which model a model needs
  bool ends_at_once_ ABSL_GUARDED_BY(mu_) = false;
  bool closes_ ABSL_GUARDED_BY(mu_) = false;  // while an attempt is under way
  bool throws_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<ControlRequests> requests_;
};

TEST_F(ControlRequestsTest, RequestsForAModelAreCarriedOutInTheirOrder) {
  Make();
  Submit(Load("m"), "1");
  Begun(1);
  Submit(Unload("m"), "2");
  Submit(Load("m"), "3");
  Submit(Load("m", "{}"), "4");
  EXPECT_THAT(Begun(1), ElementsAre("load m"));
  End("m", absl::NotFoundError("first"));
  EXPECT_EQ(EndOf("1").message(), "first");
  for (int i = 0; i < 3; ++i) End("m");
  EXPECT_TRUE(EndOf("4").ok());
  EXPECT_THAT(Begun(4), ElementsAre("load m", "unload m", "load m", "load m {}"));
}

TEST_F(ControlRequestsTest, AModelThatHangsHoldsUpNoOther) {
  Make();
  Submit(Load("hangs"), "h");
  Submit(Unload("hangs"), "u");
  Begun(1);
  Submit(Load("m"), "m");
  End("m");
  EXPECT_TRUE(EndOf("m").ok());
  EXPECT_FALSE(HasEnded("h"));
  EXPECT_FALSE(HasEnded("u"));
}

TEST_F(ControlRequestsTest, EqualRequestsThatWaitShareOneAttempt) {
  Make();
  Submit(Load("m"), "1");
  Begun(1);
  Submit(Load("m"), "2");  // the first may have read files that have changed since
  Submit(Load("m"), "3");
  Submit(Load("m"), "4");
  End("m");
  EXPECT_TRUE(EndOf("1").ok());
  End("m", absl::InternalError("second"));
  for (const char* name : {"2", "3", "4"}) EXPECT_EQ(EndOf(name).message(), "second");
  EXPECT_THAT(Begun(2), ElementsAre("load m", "load m"));
}

TEST_F(ControlRequestsTest, DifferentRequestsShareNothing) {
  Make();
  Submit(Load("m"), "1");
  Begun(1);
  ModelChange a = Load("m", "{}");
  a.override.files["file:a"] = "bc";
  ModelChange b = Load("m", "{}");
  b.override.files["file:ab"] = "c";
  ModelChange with_members{Kind::kUnloadWithMembers, "m", {}};
  Submit(Load("m", "{}"), "2");
  Submit(a, "3");
  Submit(b, "4");
  Submit(Unload("m"), "5");
  Submit(with_members, "6");
  EXPECT_EQ(requests_->waiting(), 5u);
  for (int i = 0; i < 6; ++i) End("m");
  EXPECT_TRUE(EndOf("6").ok());
  EXPECT_EQ(Begun(6).size(), 6u);
}

TEST_F(ControlRequestsTest, WhatWaitsNeedsNoThread) {
  Make();
  Submit(Load("m"), "first");
  Begun(1);
  const size_t before = ThreadCount();
  for (int i = 0; i < 500; ++i) Submit(Load("m", std::to_string(i)), std::to_string(i));
  EXPECT_LE(ThreadCount(), before);
  EXPECT_EQ(requests_->waiting(), 500u);
  for (int i = 0; i < 501; ++i) End("m");
  EXPECT_TRUE(EndOf("499").ok());
}

TEST_F(ControlRequestsTest, AClientThatLeavesWaitsForNothing) {
  Make();
  const auto first = SubmitOfClient(Load("m"), "first");
  Begun(1);
  const auto alone = SubmitOfClient(Unload("m"), "alone");
  const auto one = SubmitOfClient(Load("m"), "one");
  const auto other = SubmitOfClient(Load("m"), "other");
  EXPECT_EQ(requests_->waiting(), 3u);
  alone->Leave();
  alone->Leave();
  one->Leave();
  EXPECT_EQ(EndOf("alone").code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(EndOf("one").code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(BegunFor("one"));
  EXPECT_EQ(requests_->waiting(), 1u);
  first->Leave();
  EXPECT_FALSE(HasEnded("first")) << "it has begun";
  End("m");
  End("m");
  EXPECT_TRUE(EndOf("other").ok());
  EXPECT_TRUE(EndOf("first").ok());
  EXPECT_THAT(Begun(2), ElementsAre("load m", "load m"));
  one->Leave();
  other->Leave();
}

TEST_F(ControlRequestsTest, AClientMayLeaveBeforeItsRequestComes) {
  Make();
  const auto client = std::make_shared<ControlClient>();
  client->Leave();
  Submit(Load("m"), "m", client);
  EXPECT_EQ(EndOf("m").code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(Begun(0), IsEmpty());
}

TEST_F(ControlRequestsTest, ARequestWaitsForOthersWorkAndIsAttemptedAgain) {
  Make();
  {
    MutexLock lock(&mu_);
    needs_["e"] = "member";
  }
  SetBusy("member", true);
  Submit(Load("e"), "e");
  Begun(1);
  while (requests_->waiting() == 0) std::this_thread::yield();
  Submit(Load("e"), "joined");  // nothing is read for the first yet
  EXPECT_EQ(requests_->waiting(), 2u);
  SetBusy("other", false);
  EXPECT_EQ(requests_->waiting(), 2u);
  SetBusy("member", false);
  End("e");
  EXPECT_TRUE(EndOf("e").ok());
  EXPECT_TRUE(EndOf("joined").ok());
  EXPECT_THAT(Begun(2), ElementsAre("load e", "load e"));
}

TEST_F(ControlRequestsTest, AHeldRequestWhoseClientLeavesHoldsUpNoneBehindIt) {
  Make();
  {
    MutexLock lock(&mu_);
    needs_["e"] = "member";
  }
  SetBusy("member", true);
  const auto client = SubmitOfClient(Load("e"), "e");
  Begun(1);
  while (requests_->waiting() == 0) std::this_thread::yield();
  {
    MutexLock lock(&mu_);
    needs_.clear();
  }
  Submit(Unload("e"), "u");
  client->Leave();
  End("e");
  EXPECT_TRUE(EndOf("u").ok());
  EXPECT_THAT(Begun(2), ElementsAre("load e", "unload e"));
  SetBusy("member", false);
}

TEST_F(ControlRequestsTest, TooManyForAModelAreRefused) {
  ControlRequests::Limits limits;
  limits.per_model = 2;
  Make(limits);
  Submit(Load("m"), "1");
  Begun(1);
  Submit(Load("m"), "2");
  const auto leaves = SubmitOfClient(Load("m"), "3");
  Submit(Load("m"), "4");
  EXPECT_EQ(EndOf("4"),
            absl::UnavailableError("more than 2 requests to load or unload model 'm' wait: try "
                                   "again later"));
  EXPECT_FALSE(BegunFor("4"));
  leaves->Leave();
  Submit(Load("m"), "5");
  EXPECT_FALSE(HasEnded("5"));
  Submit(Load("other"), "6");
  End("other");
  EXPECT_TRUE(EndOf("6").ok());
}

TEST_F(ControlRequestsTest, TooManyForAllModelsAreRefusedIfTheyWouldWait) {
  ControlRequests::Limits limits;
  limits.all = 2;
  Make(limits);
  Submit(Load("a"), "a");
  Submit(Load("b"), "b");
  Begun(2);
  Submit(Load("a"), "1");
  Submit(Load("a"), "2");
  Submit(Load("b"), "3");
  EXPECT_THAT(std::string(EndOf("3").message()),
              HasSubstr("more than 2 requests to load or unload models wait"));
  Submit(Load("idle"), "4");
  End("idle");
  EXPECT_TRUE(EndOf("4").ok()) << "it does not wait";
}

TEST_F(ControlRequestsTest, TheFilesThatWaitAreBounded) {
  ControlRequests::Limits limits;
  limits.bytes = 10;
  Make(limits);
  Submit(Load("m"), "1");
  Begun(1);
  Submit(Load("m", "more than ten bytes"), "2");  // one may wait, however large
  Submit(Load("m", "more than ten bytes"), "3");  // shares it
  Submit(Load("m", "others"), "4");
  EXPECT_FALSE(HasEnded("2"));
  EXPECT_FALSE(HasEnded("3"));
  EXPECT_THAT(std::string(EndOf("4").message()), HasSubstr("of more than 10 bytes wait"));
  End("m");
  Begun(2);
  Submit(Load("m", "others"), "5");
  EXPECT_FALSE(HasEnded("5"));
}

TEST_F(ControlRequestsTest, ACallerThatWaitsDoesTheWorkItself) {
  ControlRequests::Limits limits;
  limits.threads = 0;
  Make(limits);
  std::thread ender([this] {
    End("m", absl::NotFoundError("why"));
    End("m");
  });
  bool begun = false;
  EXPECT_EQ(requests_->Run(Load("m"), &begun).message(), "why");
  EXPECT_TRUE(begun);
  EXPECT_TRUE(requests_->Run(Unload("m")).ok());
  ender.join();
}

TEST_F(ControlRequestsTest, CallersThatWaitShareAttemptsToo) {
  Make();
  Submit(Load("m"), "1");
  Begun(1);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([this] { EXPECT_EQ(requests_->Run(Load("m")).message(), "second"); });
  }
  while (requests_->waiting() < 4) std::this_thread::yield();
  End("m");
  End("m", absl::NotFoundError("second"));
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(Begun(2).size(), 2u);
}

TEST_F(ControlRequestsTest, AnAttemptThatThrowsOrIsForgottenEnds) {
  Make();
  {
    MutexLock lock(&mu_);
    throws_ = true;
  }
  Submit(Load("m"), "1");
  EXPECT_EQ(EndOf("1").message(), "out of memory");
  EXPECT_TRUE(BegunFor("1"));
  {
    MutexLock lock(&mu_);
    throws_ = false;
  }
  Submit(Load("m"), "2");
  Begun(2);
  {
    std::map<std::string, Attempt> forgotten;  // destroyed without the mutex
    MutexLock lock(&mu_);
    while (attempts_.empty()) changed_.Wait(&mu_);
    forgotten.swap(attempts_);
  }
  EXPECT_EQ(EndOf("2").message(), "out of memory");
}

TEST_F(ControlRequestsTest, CloseEndsWhatWaitsAndRefusesTheRest) {
  Make();
  Submit(Load("m"), "1");
  Begun(1);
  Submit(Load("m"), "2");
  Submit(Unload("m"), "3");
  requests_->Close(absl::UnavailableError("closed"));
  EXPECT_EQ(EndOf("2").message(), "closed");
  EXPECT_EQ(EndOf("3").message(), "closed");
  EXPECT_FALSE(BegunFor("3"));
  EXPECT_EQ(requests_->Run(Load("x")).message(), "closed");
  EXPECT_FALSE(HasEnded("1"));
  End("m");
  EXPECT_TRUE(EndOf("1").ok());
}

TEST_F(ControlRequestsTest, CloseEndsAnAttemptThatFindsItsModelHeld) {
  Make();
  {
    MutexLock lock(&mu_);
    needs_["e"] = "member";
    closes_ = true;
  }
  SetBusy("member", true);
  Submit(Load("e"), "e");
  EXPECT_EQ(EndOf("e").message(), "closed");
  EXPECT_FALSE(BegunFor("e"));
}

TEST_F(ControlRequestsTest, ClientsComeAndGoWhileRequestsEnd) {
  Make();
  constexpr int kEach = 300;
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([this, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string name = std::to_string(t) + "/" + std::to_string(i);
        const auto client =
            SubmitOfClient(i % 3 == 0 ? Unload("m") : Load("m", std::to_string(i % 2)), name);
        if (i % 2 == 0) client->Leave();
      }
    });
  }
  std::thread ender([this] {
    while (true) {
      End("m");
      MutexLock lock(&mu_);
      if (ends_.count("last") > 0) return;
    }
  });
  for (std::thread& client : clients) client.join();
  Submit(Unload("m"), "before");
  Submit(Load("m", "last"), "last");
  EXPECT_TRUE(EndOf("last").ok());
  for (int t = 0; t < 4; ++t) {
    for (int i = 0; i < kEach; ++i) (void)EndOf(std::to_string(t) + "/" + std::to_string(i));
  }
  EXPECT_EQ(requests_->waiting(), 0u);
  Submit(Load("m", "for the ender"), "end");
  ender.join();
}

}  // namespace
}  // namespace nereid
