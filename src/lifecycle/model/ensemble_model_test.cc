// SPDX-License-Identifier: Apache-2.0
// How the ModelManager loads, checks and unloads ensembles.
#include "lifecycle/model/ensemble_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "infer/testing/test_request.h"
#include "lifecycle/model_manager.h"
#include "lifecycle/testing/fake_repository.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EnsembleModelTest : public ::testing::Test {
 protected:
  EnsembleModelTest() {
    ModelManagerOptions options;
    options.repositories = {"/models"};
    options.load_threads = 2;
    manager_ = std::make_unique<ModelManager>(std::move(options), repository_.Context());
  }
  ~EnsembleModelTest() override {
    manager_->UnloadAll();
    EXPECT_TRUE(manager_->WaitUnloaded(Never()));
  }

  TimePoint Never() { return repository_.clock.Now() + std::chrono::hours(1); }

  std::string LoadError(const std::string& name) {
    return std::string(manager_->Load(name).message());
  }

  FakeRepository repository_;
  std::unique_ptr<ModelManager> manager_;
};

TEST_F(EnsembleModelTest, LoadAllLoadsThemAfterWhatTheyContain) {
  repository_.WriteEnsemble("a_outer", FakeRepository::Step("z_inner", "in", "t") +
                                           FakeRepository::Step("m", "t", "out"));
  repository_.WriteEnsemble(
      "z_inner", FakeRepository::Step("m", "in", "t") + FakeRepository::Step("m", "t", "out"));
  repository_.Write("m");
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  const std::shared_ptr<ManagedModel> model = *manager_->Find("a_outer", -1);
  EXPECT_TRUE(model->CheckReady().ok());
  EXPECT_TRUE(model->config().instances.empty());
  EXPECT_FALSE(model->config().decoupled);
  EXPECT_EQ(model->load_seconds(), 0);
  EXPECT_THAT(model->memory(), IsEmpty());
}

TEST_F(EnsembleModelTest, Circles) {
  repository_.WriteEnsemble("a", FakeRepository::Step("b", "in", "out"));
  repository_.WriteEnsemble("b", FakeRepository::Step("a", "in", "out"));
  repository_.WriteEnsemble("self", FakeRepository::Step("self", "in", "out"));
  EXPECT_THAT(manager_->LoadAll(), ElementsAre("a", "b", "self"));
  EXPECT_EQ(manager_->Directory().models.at("a").reason,
            "circular dependency between ensembles: a -> ... -> b -> a");
  EXPECT_THAT(LoadError("self"), HasSubstr("circular dependency between ensembles: self -> ... -> "
                                           "self -> self"));
}

TEST_F(EnsembleModelTest, MembersHaveToBeThere) {
  repository_.WriteEnsemble(
      "e", FakeRepository::Step("x", "in", "t") + FakeRepository::Step("y", "t", "out"));
  EXPECT_THAT(LoadError("e"),
              HasSubstr("ensemble e contains models that are not available or ambiguous: x, y"));

  repository_.fs.WriteFile("/models/x/config.pbtxt", "no configuration");
  repository_.fs.MakeDirectory("/models/x/1");
  repository_.Write("y");
  EXPECT_FALSE(manager_->Load("x").ok());
  ASSERT_TRUE(manager_->Load("y").ok());
  EXPECT_THAT(LoadError("e"), HasSubstr("ensemble 'e' depends on 'x' which is not valid. Model 'x' "
                                        "failed with error: "));
}

TEST_F(EnsembleModelTest, MembersHaveToBeLoaded) {
  repository_.WriteEnsemble(
      "e", FakeRepository::Step("refused", "in", "t") + FakeRepository::Step("y", "t", "out", 7));
  repository_.Write("refused");
  repository_.Write("y");
  EXPECT_FALSE(manager_->Load("refused").ok());
  ASSERT_TRUE(manager_->Load("y").ok());
  const std::string error = LoadError("e");
  EXPECT_THAT(error,
              HasSubstr("ensemble 'e' depends on 'refused' which has no loaded version. "
                        "Model 'refused' loading failed with error: version 1 is at "
                        "UNAVAILABLE state: Internal: the fake backend refuses this model;"));
  EXPECT_THAT(error, HasSubstr("ensemble 'e' depends on 'y' whose required version 7 is not "
                               "loaded."));
}

TEST_F(EnsembleModelTest, MembersHaveToFit) {
  repository_.Write("m", {1}, "max_batch_size: 2");
  repository_.WriteEnsemble("e", FakeRepository::Step("m", "in", "out"), "max_batch_size: 4");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_THAT(LoadError("e"), HasSubstr("ensemble e allows maximum batch size 4, but it contains "
                                        "model m which only allows maximum batch size to be 2"));
}

TEST_F(EnsembleModelTest, ADecoupledStepMakesTheEnsembleDecoupled) {
  repository_.Write("m", {1}, "model_transaction_policy { decoupled: true }");
  repository_.WriteEnsemble("e", FakeRepository::Step("m", "in", "out"));
  ASSERT_TRUE(manager_->Load("m").ok());
  ASSERT_TRUE(manager_->Load("e").ok());
  const CompiledModel& config = (*manager_->Find("e", -1))->config();
  EXPECT_TRUE(config.decoupled);
  EXPECT_THAT(config.json, HasSubstr("\"decoupled\":true"));
}

TEST_F(EnsembleModelTest, NoCacheOverMembersThatKeepState) {
  const std::string cached = "response_cache { enable: true }";
  repository_.Write("acc", {1}, "sequence_batching { }");
  repository_.Write("plain");
  repository_.WriteEnsemble("inner", FakeRepository::Step("acc", "in", "out"));
  repository_.WriteEnsemble("middle", FakeRepository::Step("inner", "in", "out"));
  repository_.WriteEnsemble("direct", FakeRepository::Step("acc", "in", "out"), cached);
  repository_.WriteEnsemble("nested", FakeRepository::Step("middle", "in", "out"), cached);
  repository_.WriteEnsemble("stateless", FakeRepository::Step("plain", "in", "out"), cached);
  EXPECT_THAT(manager_->LoadAll(), ElementsAre("direct", "nested"));
  for (const char* const name : {"direct", "nested"}) {
    EXPECT_THAT(manager_->Directory().models.at(name).reason,
                HasSubstr(std::string("Response Cache does not currently support model ") + name +
                          " with sequence batching scheduler. Please disable the response cache."));
  }
  // A member that begins to keep state takes the ensemble out of service.
  repository_.Write("plain", {1}, "sequence_batching { }");
  ASSERT_TRUE(manager_->Load("plain").ok());
  EXPECT_FALSE(manager_->Find("stateless", -1).ok());
}

TEST_F(EnsembleModelTest, ReadinessFollowsTheMembers) {
  repository_.Write("m");
  repository_.WriteEnsemble("e", FakeRepository::Step("m", "in", "out"));
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  EXPECT_TRUE((*manager_->Find("e", -1))->CheckReady().ok());
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_FALSE(manager_->Find("e", -1).ok());
  ASSERT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_EQ(manager_->Directory().models.at("e").versions.at(1).reason(),
            "ensemble 'e' depends on 'm' which has no loaded version.");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_TRUE((*manager_->Find("e", -1))->CheckReady().ok());
}

TEST_F(EnsembleModelTest, AReloadedMemberThatDoesNotFitAnyMore) {
  repository_.Write("m");
  repository_.WriteEnsemble("e", FakeRepository::Step("m", "in", "out"));
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  repository_.fs.WriteFile("/models/m/config.pbtxt",
                           "backend: 'fake' input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] } "
                           "output { name: 'out' data_type: TYPE_FP32 dims: [ 1 ] }");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_FALSE(manager_->Find("e", -1).ok());
  ASSERT_TRUE(manager_->WaitUnloaded(Never()));
  EXPECT_THAT(manager_->Directory().models.at("e").versions.at(1).reason(),
              HasSubstr("inconsistent data type"));
  repository_.Write("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_TRUE((*manager_->Find("e", -1))->CheckReady().ok());
}

TEST_F(EnsembleModelTest, LabelsComeFromTheMember) {
  repository_.fs.WriteFile("/models/m/config.pbtxt",
                           "backend: 'fake' input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] } "
                           "output { name: 'out' data_type: TYPE_INT8 dims: [ 1 ] "
                           "label_filename: 'labels' }");
  repository_.fs.WriteFile("/models/m/labels", "cat\ndog\n");
  repository_.fs.MakeDirectory("/models/m/1");
  repository_.WriteEnsemble("e", FakeRepository::Step("m", "in", "out"));
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  EXPECT_STREQ((*manager_->Find("e", -1))->Label("out", 1), "dog");
}

TEST_F(EnsembleModelTest, ARequestKeepsItsMembersUntilItEnds) {
  repository_.Write("holds");
  repository_.WriteEnsemble("e", FakeRepository::Step("holds", "in", "out"));
  EXPECT_THAT(manager_->LoadAll(), IsEmpty());
  const std::shared_ptr<ManagedModel> ensemble = *manager_->Find("e", -1);
  TestRequest request(ensemble);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(ensemble->Enqueue(&owned).ok());
  repository_.backend.AwaitHeld(1);
  ASSERT_TRUE(manager_->Unload("holds").ok());
  ASSERT_TRUE(manager_->Unload("e").ok());
  EXPECT_FALSE(manager_->WaitUnloaded(repository_.clock.Now()));
  repository_.backend.LetGo();
  request.WaitDone();
  // The fake backend answers without tensors, which is no error.
  EXPECT_TRUE(request.final_status().ok()) << request.final_status();
  EXPECT_TRUE(manager_->WaitUnloaded(Never()));
}

}  // namespace
}  // namespace nereid
