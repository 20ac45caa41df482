// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "infer/testing/test_request.h"
#include "lifecycle/testing/fake_repository.h"

namespace nereid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

size_t InstanceCount(const std::shared_ptr<ManagedModel>& model) {
  return static_cast<const LoadedModel&>(*model).instance_count();
}

class ModelManagerTest : public ::testing::Test {
 protected:
  ModelManagerTest() { Start({"/models"}); }
  ~ModelManagerTest() override { Stop(); }

  void Start(std::set<std::string> repositories, uint32_t retries = 0, bool namespacing = false) {
    Stop();
    ModelManagerOptions options;
    options.namespacing = namespacing;
    options.repositories = std::move(repositories);
    options.load_threads = 2;
    options.load_retries = retries;
    manager_ = std::make_unique<ModelManager>(std::move(options), repository_.Context());
  }

  void Stop() {
    if (manager_ == nullptr) return;
    manager_->UnloadAll();
    EXPECT_TRUE(manager_->WaitUnloaded(Never()));
    manager_.reset();
  }

  TimePoint Never() { return repository_.clock.Now() + std::chrono::hours(1); }

  // "<version>: <STATE> <reason>" for each version.
  std::vector<std::string> States(const std::string& name) {
    std::vector<std::string> states;
    const ModelDirectory& directory = manager_->Directory();
    const auto it = directory.models.find(name);
    if (it == directory.models.end()) return states;
    for (const auto& [version, entry] : it->second.versions) {
      states.push_back(std::to_string(version) + ": " + VersionStateName(entry.state()) +
                       (entry.reason().empty() ? "" : " " + entry.reason()));
    }
    return states;
  }

  std::string Reason(const std::string& name) {
    const auto& models = manager_->Directory().models;
    const auto it = models.find(name);
    return it == models.end() ? "unknown" : it->second.reason;
  }

  int64_t MaxBatchSize(const std::string& name) {
    return (*manager_->Find(name, -1))->config().max_batch_size;
  }

  // Issues a request that the fake backend holds until LetGo.
  TestRequest& Hold(const std::string& name) {
    const std::shared_ptr<ManagedModel> model = *manager_->Find(name, -1);
    requests_.push_back(std::make_unique<TestRequest>(model));
    TestRequest& request = *requests_.back();
    request.Input("in", DataType::kInt8, {1});
    RequestPtr owned = request.Issue();
    EXPECT_TRUE(model->Enqueue(&owned).ok());
    repository_.backend.AwaitHeld(1);
    return request;
  }

  FakeRepository repository_;
  std::unique_ptr<ModelManager> manager_;
  std::deque<std::unique_ptr<TestRequest>> requests_;
};

// ---- Loading

TEST_F(ModelManagerTest, LoadAllLoadsEveryModel) {
  for (const char* name : {"a", "b", "c", "d", "e"}) repository_.Write(name);
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    EXPECT_TRUE(manager_->Find(name, -1).ok()) << name;
    EXPECT_THAT(States(name), ElementsAre("1: READY"));
  }
}

TEST_F(ModelManagerTest, LoadAllNamesThoseThatFailedAndServesTheOthers) {
  for (const char* name : {"good", "refused", "throws"}) repository_.Write(name);
  EXPECT_THAT(manager_->LoadAll(), ElementsAre("refused", "throws"));
  EXPECT_TRUE(manager_->Find("good", -1).ok());
  EXPECT_THAT(States("refused"),
              ElementsAre("1: UNAVAILABLE Internal: the fake backend refuses this model"));
}

TEST_F(ModelManagerTest, LoadAllOfNothingIsNothing) { EXPECT_THAT(manager_->LoadAll(), IsEmpty()); }

TEST_F(ModelManagerTest, AllVersionsThatThePolicyWants) {
  repository_.Write("m", {1, 3, 20}, "version_policy { latest { num_versions: 2 } }");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_THAT(States("m"), ElementsAre("3: READY", "20: READY"));
  EXPECT_EQ((*manager_->Find("m", -1))->config().version, 20);
}

TEST_F(ModelManagerTest, AModelThatIsNowhere) {
  EXPECT_EQ(
      manager_->Load("x"),
      absl::InternalError("failed to load 'x', failed to poll from model repository: no model 'x' "
                          "in '/models'"));
  EXPECT_EQ(Reason("x"), "unknown") << "it leaves no trace";
}

TEST_F(ModelManagerTest, AModelInTwoRepositoriesIsServedFromNeither) {
  repository_.Write("m");
  repository_.Write("m", {1}, "", "/other");
  Start({"/models", "/other"});
  const absl::Status status = manager_->Load("m");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Reason("m"), std::string(status.message()));
  EXPECT_EQ(manager_->Find("m", -1).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ModelManagerTest, ABrokenConfigurationIsTheModelsReason) {
  repository_.fs.WriteFile("/models/m/config.pbtxt", "backend: \"fake\" max_batch_size: oops");
  const absl::Status status = manager_->Load("m");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Reason("m"), std::string(status.message()));
  EXPECT_THAT(States("m"), IsEmpty());
}

TEST_F(ModelManagerTest, AModelWithoutVersions) {
  repository_.Write("m", {});
  const absl::Status status = manager_->Load("m");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::StartsWith("at least one version must be available under the version "
                                    "policy of model 'm'"));
  EXPECT_THAT(Reason("m"), HasSubstr("at least one version"));
}

TEST_F(ModelManagerTest, AReasonIsForgottenWhenTheModelLoads) {
  repository_.Write("m", {});
  EXPECT_FALSE(manager_->Load("m").ok());
  repository_.Write("m", {1});
  EXPECT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(Reason("m"), "");
  EXPECT_THAT(States("m"), ElementsAre("1: READY"));
}

TEST_F(ModelManagerTest, EveryVersionOrNone) {
  repository_.Write("version_2_refused", {1, 2}, "version_policy { all {} }");
  EXPECT_EQ(manager_->Load("version_2_refused"),
            absl::InvalidArgumentError("version 2 is at UNAVAILABLE state: Internal: the fake "
                                       "backend refuses 2;"));
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("version_2_refused"),
              ElementsAre("1: UNAVAILABLE unloaded because another version failed to load",
                          "2: UNAVAILABLE Internal: the fake backend refuses 2"));
  EXPECT_THAT(repository_.backend.Journal(), Contains("model_finalize version_2_refused"));
}

TEST_F(ModelManagerTest, AFailedLoadIsTriedAgainAsOftenAsAsked) {
  Start({"/models"}, /*retries=*/2);
  repository_.Write("refused");
  repository_.backend.Forget();
  EXPECT_FALSE(manager_->Load("refused").ok());
  int tries = 0;
  for (const std::string& call : repository_.backend.Journal()) {
    if (call == "model_initialize refused") ++tries;
  }
  EXPECT_EQ(tries, 3);
}

// ---- Loading again

TEST_F(ModelManagerTest, AReloadSwapsAndLetsTheOldOneFinish) {
  repository_.Write("holds");
  ASSERT_TRUE(manager_->Load("holds").ok());
  const std::shared_ptr<ManagedModel> old = *manager_->Find("holds", -1);
  TestRequest& running = Hold("holds");
  repository_.fs.WriteFile("/models/holds/1/weights", "new");
  ASSERT_TRUE(manager_->Load("holds").ok());
  const std::shared_ptr<ManagedModel> current = *manager_->Find("holds", -1);
  EXPECT_NE(current, old);
  EXPECT_TRUE(current->AdmissionOpen());
  EXPECT_FALSE(old->AdmissionOpen());
  EXPECT_EQ(running.releases(), 0);
  repository_.backend.LetGo();
  running.WaitDone();
  EXPECT_TRUE(running.final_status().ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("holds"), ElementsAre("1: READY")) << "the old one's end says nothing";
}

TEST_F(ModelManagerTest, AVersionStaysInSightUntilItHasDrained) {
  repository_.Write("holds", {1});
  ASSERT_TRUE(manager_->Load("holds").ok());
  TestRequest& running = Hold("holds");
  for (const int64_t version : {2, 3}) {
    repository_.Write("holds", {version});
    ASSERT_TRUE(manager_->Load("holds").ok());
    EXPECT_THAT(States("holds"), Contains("1: UNLOADING"));
  }
  repository_.backend.LetGo();
  running.WaitDone();
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("holds"), Contains("1: UNAVAILABLE unloaded"));
}

TEST_F(ModelManagerTest, TheEndOfAnOldVersionDoesNotHideWhyTheNewOneFailed) {
  repository_.Write("holds");
  ASSERT_TRUE(manager_->Load("holds").ok());
  TestRequest& running = Hold("holds");
  ASSERT_TRUE(manager_->Unload("holds").ok());
  repository_.Write("holds", {1}, "runtime: \"nowhere.so\"");
  EXPECT_FALSE(manager_->Load("holds").ok());
  const std::vector<std::string> failed = States("holds");
  EXPECT_THAT(failed, ElementsAre(HasSubstr("1: UNAVAILABLE ")));
  repository_.backend.LetGo();
  running.WaitDone();
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_EQ(States("holds"), failed);
}

TEST_F(ModelManagerTest, AFailedReloadLeavesWhatServes) {
  repository_.Write("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  const std::shared_ptr<ManagedModel> serving = *manager_->Find("m", -1);
  repository_.fs.WriteFile("/models/m/config.pbtxt", "no configuration");
  EXPECT_FALSE(manager_->Load("m").ok());
  EXPECT_EQ(*manager_->Find("m", -1), serving);
  EXPECT_TRUE(serving->AdmissionOpen());
  EXPECT_THAT(States("m"), ElementsAre("1: READY"));
  repository_.Write("m", {1}, "runtime: \"nowhere.so\"");
  EXPECT_FALSE(manager_->Load("m").ok());
  EXPECT_EQ(*manager_->Find("m", -1), serving);
}

TEST_F(ModelManagerTest, AVersionThatIsNotWantedAnyMoreIsUnloaded) {
  repository_.Write("m", {1});
  ASSERT_TRUE(manager_->Load("m").ok());
  repository_.Write("m", {2});
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("m"), ElementsAre("1: UNAVAILABLE unloaded", "2: READY"));
}

TEST_F(ModelManagerTest, LoadsAndUnloadsFromManyThreadsDoNotGetInEachOthersWay) {
  repository_.Write("a");
  repository_.Write("b");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const std::string name = t % 2 == 0 ? "a" : "b";
      for (int i = 0; i < 10; ++i) {
        repository_.fs.WriteFile("/models/" + name + "/1/weights", std::to_string(i + t));
        if ((i + t) % 3 == 0) {
          EXPECT_TRUE(manager_->Unload(name).ok());
        } else {
          EXPECT_TRUE(manager_->Load(name).ok());
        }
        const auto model = manager_->Find(name, -1);
        if (model.ok()) {
          EXPECT_EQ((*model)->config().name, name);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(manager_->Load("a").ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("a"), ElementsAre("1: READY"));
}

TEST_F(ModelManagerTest, AModelThatHasNotChangedIsLeftAlone) {
  repository_.Write("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  const std::shared_ptr<ManagedModel> serving = *manager_->Find("m", -1);
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(*manager_->Find("m", -1), serving);
  repository_.fs.MakeDirectory("/models/m/7");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_THAT(States("m"), Contains("7: READY"));
}

TEST_F(ModelManagerTest, AVersionThatHasNotChangedServesOnBesideANewOne) {
  const std::string all = "version_policy { all {} }";
  repository_.Write("m", {1}, all);
  ASSERT_TRUE(manager_->Load("m").ok());
  const std::shared_ptr<ManagedModel> first = *manager_->Find("m", 1);
  repository_.Write("m", {1, 2}, all);
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(*manager_->Find("m", 1), first);
  EXPECT_THAT(States("m"), ElementsAre("1: READY", "2: READY"));
}

TEST_F(ModelManagerTest, OtherParametersAreAnotherModel) {
  repository_.Write("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  LoadOverride override;
  override.config_json = R"({"backend":"fake","max_batch_size":2,)"
                         R"("input":[{"name":"in","data_type":"TYPE_INT8","dims":[1]}],)"
                         R"("output":[{"name":"out","data_type":"TYPE_INT8","dims":[1]}]})";
  ASSERT_TRUE(manager_->Load("m", override).ok());
  EXPECT_EQ(MaxBatchSize("m"), 2);
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(MaxBatchSize("m"), 2) << "what was asked for counts until something changes";
  LoadOverride nonsense;
  nonsense.config_json = "{\"nonsense\": 1}";
  EXPECT_THAT(std::string(manager_->Load("m", nonsense).message()),
              ::testing::StartsWith("Invalid config override: "));
  EXPECT_EQ(MaxBatchSize("m"), 2);
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(MaxBatchSize("m"), 2) << "what failed is forgotten";
  repository_.Write("m", {1, 2});
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(MaxBatchSize("m"), 0) << "the files have changed";
}

TEST_F(ModelManagerTest, AConfigurationOfALoadRequestEndsWithTheUnload) {
  repository_.Write("m");
  LoadOverride override;
  override.config_json = R"({"backend":"fake","max_batch_size":2,)"
                         R"("input":[{"name":"in","data_type":"TYPE_INT8","dims":[1]}],)"
                         R"("output":[{"name":"out","data_type":"TYPE_INT8","dims":[1]}]})";
  ASSERT_TRUE(manager_->Load("m", override).ok());
  ASSERT_TRUE(manager_->Unload("m").ok());
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(MaxBatchSize("m"), 0);
}

TEST_F(ModelManagerTest, InstancesComeAndGoWithoutAReload) {
  const auto group = [](int count) {
    return "instance_group { name: \"g\" count: " + std::to_string(count) + " kind: KIND_CPU }";
  };
  repository_.Write("m", {1}, group(2));
  ASSERT_TRUE(manager_->Load("m").ok());
  const std::shared_ptr<ManagedModel> model = *manager_->Find("m", -1);
  repository_.backend.Forget();
  repository_.Write("m", {1}, group(3));
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(*manager_->Find("m", -1), model);
  EXPECT_EQ(InstanceCount(model), 3u);
  EXPECT_THAT(repository_.backend.Journal(), ElementsAre("instance_initialize g_2"));
  EXPECT_THAT(model->ConfigJson(), HasSubstr("\"count\":3"));
  repository_.backend.Forget();
  repository_.Write("m", {1}, group(1));
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(*manager_->Find("m", -1), model);
  EXPECT_EQ(InstanceCount(model), 1u);
  EXPECT_THAT(repository_.backend.Journal(),
              ::testing::UnorderedElementsAre("instance_finalize g_1", "instance_finalize g_2"))
      << "a load that has ended has given back what it took away";
  // The remaining instance answers.
  TestRequest request(model);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(model->Enqueue(&owned).ok());
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
}

TEST_F(ModelManagerTest, AnInstanceGoesWhenItsRequestsAreBack) {
  const auto group = [](int count) {
    return "instance_group { name: \"g\" count: " + std::to_string(count) + " kind: KIND_CPU }";
  };
  repository_.Write("holds", {1}, group(1));
  ASSERT_TRUE(manager_->Load("holds").ok());
  TestRequest& running = Hold("holds");
  // The new group has another host policy, so the old instance cannot go on.
  repository_.Write("holds", {1}, "instance_group { name: \"h\" count: 1 kind: KIND_MODEL }");
  repository_.backend.Forget();
  ASSERT_TRUE(manager_->Load("holds").ok()) << "it waits for executions, not for streams";
  EXPECT_THAT(repository_.backend.Journal(), ElementsAre("instance_initialize h_0"));
  EXPECT_EQ(running.releases(), 0);
  repository_.backend.LetGo();
  running.WaitDone();
  EXPECT_TRUE(running.final_status().ok());
  while (repository_.backend.Journal().size() < 2) std::this_thread::yield();
  EXPECT_THAT(repository_.backend.Journal(), Contains("instance_finalize g_0"));
}

TEST_F(ModelManagerTest, AnUpdateOfInstancesThatFailsChangesNothing) {
  repository_.Write("instance_refused", {1}, "instance_group { name: \"g\" count: 1 }");
  ASSERT_TRUE(manager_->Load("instance_refused").ok());
  const std::shared_ptr<ManagedModel> model = *manager_->Find("instance_refused", -1);
  repository_.Write("instance_refused", {1}, "instance_group { name: \"g\" count: 2 }");
  EXPECT_EQ(manager_->Load("instance_refused").message(),
            "version 1 is at READY state: Internal: the fake backend refuses this instance;");
  EXPECT_EQ(*manager_->Find("instance_refused", -1), model);
  EXPECT_EQ(InstanceCount(model), 1u);
  EXPECT_THAT(States("instance_refused"), ElementsAre("1: READY"));
}

// ---- Polling

TEST_F(ModelManagerTest, APollDoesWhatTheRepositorySays) {
  for (const char* name : {"same", "changed", "gone"}) repository_.Write(name);
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  const std::shared_ptr<ManagedModel> same = *manager_->Find("same", -1);
  const std::shared_ptr<ManagedModel> changed = *manager_->Find("changed", -1);
  repository_.Write("new");
  repository_.fs.WriteFile("/models/changed/1/weights", "new");
  repository_.fs.Remove("/models/gone");
  ASSERT_TRUE(manager_->Poll(/*wait=*/true).ok());
  EXPECT_EQ(*manager_->Find("same", -1), same);
  EXPECT_NE(*manager_->Find("changed", -1), changed);
  EXPECT_TRUE(manager_->Find("new", -1).ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("gone"), ElementsAre("1: UNAVAILABLE unloaded"));
}

TEST_F(ModelManagerTest, APollForgivesWhenTheModelIsRepaired) {
  repository_.fs.WriteFile("/models/m/config.pbtxt", "nonsense");
  EXPECT_THAT(manager_->LoadAll(), ElementsAre("m"));
  repository_.Write("m");
  ASSERT_TRUE(manager_->Poll(/*wait=*/true).ok());
  EXPECT_THAT(States("m"), ElementsAre("1: READY"));
  EXPECT_EQ(Reason("m"), "");
}

TEST_F(ModelManagerTest, ARepositoryThatCannotBeReadIsNotTakenForEmpty) {
  repository_.Write("m");
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  repository_.fs.Fail("/models", absl::InternalError("the network is away"));
  EXPECT_EQ(manager_->Poll(/*wait=*/true), absl::InternalError("the network is away"));
  EXPECT_TRUE(manager_->Find("m", -1).ok());
}

TEST_F(ModelManagerTest, ANameThatComesASecondTimeIsServedNoMore) {
  repository_.fs.MakeDirectory("/other");
  Start({"/models", "/other"});
  repository_.Write("m");
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  repository_.Write("m", {1}, "", "/other");
  ASSERT_TRUE(manager_->Poll(/*wait=*/true).ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("m"), ElementsAre("1: UNAVAILABLE model appears in two or more repositories"));
  repository_.fs.Remove("/models/m");
  ASSERT_TRUE(manager_->Poll(/*wait=*/true).ok());
  EXPECT_THAT(States("m"), ElementsAre("1: READY"));
}

// ---- Several repositories

// Whatever takes a model out of service, the server stays ready; a load that fails does not.
TEST_F(ModelManagerTest, WhatGoesOutOfServiceDoesNotMakeTheServerUnready) {
  struct Case {
    const char* what;
    std::function<void()> change;
    bool ready;
    const char* model;
    const char* state;
  };
  const auto poll = [this] { (void)manager_->Poll(/*wait=*/true); };
  const Case cases[] = {
      {"an unload", [&] { EXPECT_TRUE(manager_->Unload("m").ok()); }, true, "m",
       "1: UNAVAILABLE unloaded"},
      {"an unload of an ensemble's member", [&] { EXPECT_TRUE(manager_->Unload("m").ok()); }, true,
       "e", "1: UNAVAILABLE ensemble 'e' depends on 'm' which has no loaded version."},
      {"a member that goes while polling",
       [&] {
         repository_.fs.Remove("/models/m");
         poll();
       },
       true, "e", "1: UNAVAILABLE ensemble 'e' depends on 'm' which has no loaded version."},
      {"a name that comes a second time",
       [&] {
         repository_.Write("m", {1}, "", "/other");
         poll();
       },
       true, "m", "1: UNAVAILABLE model appears in two or more repositories"},
      {"a name that comes a second time, for the ensemble",
       [&] {
         repository_.Write("m", {1}, "", "/other");
         poll();
       },
       true, "e", "1: UNAVAILABLE ensemble 'e' depends on 'm' which has no loaded version."},
      {"a member that does not fit any more",
       [&] {
         repository_.Write("m", {1}, "input { name: 'more' data_type: TYPE_INT8 dims: [ 1 ] }");
         poll();
       },
       true, "e", "1: UNAVAILABLE in ensemble e, "},
      {"a load that fails",
       [&] {
         repository_.Write("refused");
         poll();
       },
       false, "refused", "1: UNAVAILABLE Internal: the fake backend refuses this model"},
      {"a reload that fails",
       [&] {
         repository_.Write("m", {1}, "runtime: 'nowhere.so'");
         poll();
       },
       true, "m", "1: READY"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    repository_.fs.Remove("/models/refused");
    repository_.fs.Remove("/models/m");
    repository_.fs.Remove("/other/m");
    repository_.fs.MakeDirectory("/other");
    repository_.Write("m");
    repository_.WriteEnsemble("e", FakeRepository::Step("m", "in", "out"));
    Start({"/models", "/other"});
    ASSERT_THAT(manager_->LoadAll(), IsEmpty());
    ASSERT_TRUE(manager_->Directory().Expected().has_value());
    c.change();
    EXPECT_TRUE(manager_->WaitUnloaded(Never()));
    EXPECT_EQ(manager_->Directory().Expected().has_value(), c.ready);
    EXPECT_THAT(States(c.model), ElementsAre(StartsWith(c.state)));
  }
}

TEST_F(ModelManagerTest, NamespacesTellModelsOfTheSameNameApart) {
  repository_.Write("m");
  repository_.Write("m", {2}, "", "/other");
  repository_.Write("only", {1}, "", "/other");
  Start({"/models", "/other"}, 0, /*namespacing=*/true);
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  EXPECT_TRUE(manager_->Find("only", -1).ok());
  EXPECT_EQ(manager_->Find("m", -1).status(),
            absl::InvalidArgumentError("There are 2 identifiers of model 'm' in global map, model "
                                       "namespace must be provided to resolve ambiguity."));
  EXPECT_EQ(manager_->Find("x", -1).status(),
            absl::InvalidArgumentError("Request for unknown model: 'x' is not found"));
  const ModelDirectory& directory = manager_->Directory();
  EXPECT_EQ(directory.FindMember("/other", "m")->versions.begin()->first, 2);
  EXPECT_EQ(directory.FindMember("/models", "m")->versions.begin()->first, 1);
  EXPECT_EQ(directory.FindMember("/models", "only")->id.space, "/other");
  EXPECT_EQ(directory.FindMember("/third", "m"), nullptr);
  ASSERT_TRUE(manager_->Unload("only").ok());
  EXPECT_TRUE(manager_->Unload("x").ok());
}

TEST_F(ModelManagerTest, ALoadAndAnUnloadOfANameMeanAllItsNamespaces) {
  repository_.Write("m");
  repository_.Write("m", {2}, "", "/other");
  repository_.Write("one", {1}, "", "/other");
  Start({"/models", "/other"}, 0, /*namespacing=*/true);
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_THAT(States("/models::m"), ElementsAre("1: READY"));
  EXPECT_THAT(States("/other::m"), ElementsAre("2: READY"));
  EXPECT_THAT(States("/other::one"), IsEmpty());
  ASSERT_TRUE(manager_->Load("m").ok()) << "nothing has changed";
  repository_.Write("m", {1}, "runtime: 'nowhere.so'");
  EXPECT_FALSE(manager_->Load("m").ok()) << "one of them fails";
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("/models::m"), ElementsAre("1: UNAVAILABLE unloaded"));
  EXPECT_THAT(States("/other::m"), ElementsAre("2: UNAVAILABLE unloaded"));
}

// An ensemble's own repository comes first, and others stand in for what is not there.
TEST_F(ModelManagerTest, AMemberThatGoesIsReplacedByThatOfAnotherNamespace) {
  repository_.Write("m");
  repository_.Write("m", {2}, "", "/other");
  repository_.WriteEnsemble("e", FakeRepository::Step("m", "in", "out"));
  Start({"/models", "/other"}, 0, /*namespacing=*/true);
  ASSERT_THAT(manager_->LoadAll(), IsEmpty());
  EXPECT_EQ(manager_->Directory().FindMember("/models", "m")->id.space, "/models");
  repository_.fs.Remove("/models/m");
  ASSERT_TRUE(manager_->Poll(/*wait=*/true).ok());
  EXPECT_THAT(States("/models::e"), ElementsAre("1: READY"));
  EXPECT_EQ(manager_->Directory().FindMember("/models", "m")->id.space, "/other");
  EXPECT_EQ((*manager_->Find("m", -1))->config().version, 2) << "the name means one model now";
  repository_.Write("m");
  ASSERT_TRUE(manager_->Poll(/*wait=*/true).ok());
  EXPECT_THAT(States("/models::e"), ElementsAre("1: READY"));
  EXPECT_EQ(manager_->Directory().FindMember("/models", "m")->id.space, "/models");
  EXPECT_FALSE(manager_->Find("m", -1).ok()) << "again it means two";
  // The same by unloads, until none is left.
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(
      States("/models::e"),
      ElementsAre("1: UNAVAILABLE ensemble 'e' depends on 'm' which has no loaded version."));
}

TEST_F(ModelManagerTest, RepositoriesComeAndGo) {
  EXPECT_EQ(manager_->RegisterRepository("/more", {}),
            absl::InvalidArgumentError("failed to register '/more', repository not found"));
  repository_.Write("directory", {1}, "name: \"directory\"", "/more");
  EXPECT_FALSE(manager_->Load("called").ok());
  ASSERT_TRUE(manager_->RegisterRepository("/more", {{"directory", "called"}}).ok());
  EXPECT_EQ(manager_->RegisterRepository("/more", {}),
            absl::AlreadyExistsError("model repository '/more' has already been registered"));
  repository_.fs.MakeDirectory("/third");
  EXPECT_EQ(manager_->RegisterRepository("/third", {{"d", "called"}}),
            absl::AlreadyExistsError(
                "failed to register 'called', there is a conflicting mapping for 'called'"));
  ASSERT_TRUE(manager_->Load("called").ok());
  EXPECT_EQ((*manager_->Find("called", -1))->config().name, "called");
  ASSERT_TRUE(manager_->UnregisterRepository("/more").ok());
  EXPECT_EQ(manager_->UnregisterRepository("/more"),
            absl::InvalidArgumentError("failed to unregister '/more', repository not found"));
  EXPECT_TRUE(manager_->Find("called", -1).ok()) << "what is loaded stays";
  EXPECT_FALSE(manager_->Load("directory").ok());
}

// ---- Unloading

TEST_F(ModelManagerTest, AnUnloadedModelIsGoneOnPurpose) {
  repository_.Write("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("m"), ElementsAre("1: UNAVAILABLE unloaded"));
  EXPECT_EQ(manager_->Find("m", 1).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(repository_.backend.Journal(), Contains("model_finalize m"));
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_THAT(States("m"), ElementsAre("1: READY"));
}

TEST_F(ModelManagerTest, AModelUnloadsWhenItsLastRequestIsDone) {
  repository_.Write("holds");
  ASSERT_TRUE(manager_->Load("holds").ok());
  TestRequest& running = Hold("holds");
  ASSERT_TRUE(manager_->Unload("holds").ok());
  EXPECT_THAT(States("holds"), ElementsAre("1: UNLOADING"));
  EXPECT_FALSE(manager_->WaitUnloaded(repository_.clock.Now())) << "no time to wait";
  EXPECT_EQ(
      manager_->Find("holds", 1).status(),
      absl::UnavailableError("Request for unknown model: 'holds' version 1 is not at ready state"));
  repository_.backend.LetGo();
  running.WaitDone();
  EXPECT_TRUE(running.final_status().ok());
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(States("holds"), ElementsAre("1: UNAVAILABLE unloaded"));
}

TEST_F(ModelManagerTest, AModelThatFailedIsUnloadedToo) {
  repository_.Write("refused");
  EXPECT_FALSE(manager_->Load("refused").ok());
  ASSERT_TRUE(manager_->Unload("refused").ok());
  EXPECT_THAT(States("refused"), ElementsAre("1: UNAVAILABLE unloaded"));
  repository_.fs.WriteFile("/models/m/config.pbtxt", "nonsense");
  EXPECT_FALSE(manager_->Load("m").ok());
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_EQ(Reason("m"), "unknown") << "it has no version to speak of";
}

TEST_F(ModelManagerTest, UnloadingWhatIsNotThereIsNoError) {
  EXPECT_TRUE(manager_->Unload("x").ok());
  EXPECT_EQ(Reason("x"), "unknown");
}

// ---- Stopping

TEST_F(ModelManagerTest, IdleMeansThatNothingIsInFlight) {
  repository_.Write("holds");
  ASSERT_TRUE(manager_->Load("holds").ok());
  EXPECT_TRUE(manager_->WaitIdle(repository_.clock.Now()));
  TestRequest& running = Hold("holds");
  EXPECT_FALSE(manager_->WaitIdle(repository_.clock.Now()));
  repository_.backend.LetGo();
  running.WaitDone();
  // The request leaves the model a moment after the release callback. Until then the clock has to
  // advance.
  std::atomic<bool> idle{false};
  std::thread waiter([&] { idle = manager_->WaitIdle(Never()); });
  while (!idle) {
    repository_.clock.Advance(std::chrono::milliseconds(10));
    std::this_thread::yield();
  }
  waiter.join();
}

TEST_F(ModelManagerTest, ClosedAdmissionHoldsForEveryModel) {
  repository_.Write("a");
  repository_.Write("b");
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  manager_->CloseAdmission();
  for (const char* name : {"a", "b"}) {
    EXPECT_FALSE((*manager_->Find(name, -1))->AdmissionOpen());
  }
}

}  // namespace
}  // namespace nereid
