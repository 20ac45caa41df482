// SPDX-License-Identifier: Apache-2.0
// How versions are closed. For whole unloads see model_manager_test.cc.
#include "lifecycle/load/model_closer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "infer/testing/test_request.h"
#include "lifecycle/model/loaded_model.h"
#include "lifecycle/testing/fake_repository.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ModelCloserTest : public ::testing::Test {
 protected:
  ~ModelCloserTest() override {
    closer_.RetireAll(Never());
    EXPECT_TRUE(closer_.WaitClosed(Never()));
  }

  TimePoint Never() { return repository_.clock.Now() + std::chrono::hours(1); }

  // Makes the version `version` of "holds" serve.
  std::shared_ptr<ManagedModel> Serve(int64_t version) {
    repository_.Write("holds", {version});
    ConfigSource source;
    source.model_dir = "/models/holds";
    source.expected_name = "holds";
    const auto config = LoadModelConfig(repository_.fs, source);
    EXPECT_TRUE(config.ok()) << config.status();
    std::shared_ptr<ManagedModel> model =
        *LoadedModel::Load(repository_.Context(), *config, source.model_dir, version);
    catalogue_.Update([&](ModelDirectory* directory) {
      directory->models["holds"].id = {"", "holds"};
      VersionEntry& entry = directory->models["holds"].versions[version];
      entry.BeginLoad();
      entry.Serve(model);
    });
    return model;
  }

  std::string State(int64_t version) {
    const VersionEntry& entry = catalogue_.Directory().models.at("holds").versions.at(version);
    return std::string(VersionStateName(entry.state())) + " " + entry.reason();
  }

  FakeRepository repository_;
  ModelCatalogue catalogue_{&repository_.clock, false};
  ModelCloser closer_{&repository_.clock, &catalogue_};
};

TEST_F(ModelCloserTest, AVersionGoesWhenNothingIsInFlight) {
  const std::shared_ptr<ManagedModel> model = Serve(1);
  TestRequest request(model);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(model->Enqueue(&owned).ok());
  repository_.backend.AwaitHeld(1);
  EXPECT_THAT(closer_.InFlight(),
              ElementsAre("Model 'holds' (version 1) has 1 in-flight inferences"));
  closer_.Retire({"", "holds"}, "");
  EXPECT_EQ(State(1), "UNLOADING ");
  EXPECT_FALSE(closer_.WaitClosed(repository_.clock.Now()));
  EXPECT_THAT(closer_.Unfinished(),
              ElementsAre("Model 'holds' (version 1) has not been torn down yet"));
  repository_.backend.LetGo();
  request.WaitDone();
  EXPECT_TRUE(closer_.WaitClosed(Never()));
  EXPECT_EQ(State(1), "UNAVAILABLE unloaded");
  EXPECT_THAT(closer_.Unfinished(), IsEmpty());
}

TEST_F(ModelCloserTest, AReasonIsGiven) {
  (void)Serve(1);
  closer_.Retire({"", "holds"}, "its member has gone");
  EXPECT_TRUE(closer_.WaitClosed(Never()));
  EXPECT_EQ(State(1), "UNAVAILABLE its member has gone");
}

TEST_F(ModelCloserTest, RequestsOfReplacedVersionsAreInFlightToo) {
  const std::shared_ptr<ManagedModel> old = Serve(1);
  TestRequest request(old);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(old->Enqueue(&owned).ok());
  repository_.backend.AwaitHeld(1);
  catalogue_.Update([&](ModelDirectory* directory) {
    directory->models["holds"].draining.push_back(old);
    directory->models["holds"].versions.clear();
  });
  EXPECT_THAT(closer_.InFlight(),
              ElementsAre("Model 'holds' (version 1) has 1 in-flight inferences"));
  EXPECT_FALSE(closer_.WaitIdle(repository_.clock.Now()));
  repository_.backend.LetGo();
  request.WaitDone();
  EXPECT_TRUE(closer_.WaitIdle(Never()));
  closer_.Close([&] {
    std::vector<ModelCloser::Closing> closings;
    closings.push_back(closer_.Prepare({"", "holds"}, 1, old, ""));
    return closings;
  }());
}

TEST_F(ModelCloserTest, AModelThatOthersWorkOnIsLeftAlone) {
  (void)Serve(1);
  PlannedAction load;
  load.model = {"", "holds"};
  std::optional<ModelCatalogue::Claim> claim =
      catalogue_.ClaimLoad({{"", "holds"}}, {load}, {}, 0).claim;
  ASSERT_TRUE(claim.has_value());
  closer_.RetireAll(repository_.clock.Now());
  EXPECT_EQ(State(1), "READY ");
  claim.reset();
  closer_.RetireAll(repository_.clock.Now());
  EXPECT_NE(State(1), "READY ");
}

}  // namespace
}  // namespace nereid
