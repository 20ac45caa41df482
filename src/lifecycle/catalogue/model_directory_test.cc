#include "lifecycle/catalogue/model_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "lifecycle/testing/fake_repository.h"

namespace nereid {
namespace {

TEST(ModelStateTest, NamesAreThoseOfTheProtocol) {
  EXPECT_STREQ(ModelStateName(ModelState::kUnknown), "UNKNOWN");
  EXPECT_STREQ(ModelStateName(ModelState::kReady), "READY");
  EXPECT_STREQ(ModelStateName(ModelState::kUnavailable), "UNAVAILABLE");
  EXPECT_STREQ(ModelStateName(ModelState::kLoading), "LOADING");
  EXPECT_STREQ(ModelStateName(ModelState::kUnloading), "UNLOADING");
}

class ModelDirectoryTest : public ::testing::Test {
 protected:
  void Add(int64_t version, ModelState state) {
    VersionEntry entry;
    entry.state = state;
    if (state == ModelState::kReady) {
      repository_.Write("m");
      ConfigSource source;
      source.model_dir = "/models/m";
      source.expected_name = "m";
      auto model = LoadedModel::Load(
          repository_.Context(), *LoadModelConfig(repository_.fs, source), "/models/m", version);
      ASSERT_TRUE(model.ok()) << model.status();
      entry.model = *std::move(model);
    }
    directory_.models["m"].versions[version] = std::move(entry);
  }

  FakeRepository repository_;
  ModelDirectory directory_;
};

TEST_F(ModelDirectoryTest, AChangeLeavesCopiesAsTheyWere) {
  Add(1, ModelState::kReady);
  directory_.models["other"].reason = "why";
  const ModelDirectory before = directory_;
  directory_.models["m"].versions[1].state = ModelState::kUnloading;
  directory_.models["new"];
  EXPECT_EQ(before.models.at("m").versions.at(1).state, ModelState::kReady);
  EXPECT_EQ(directory_.models.at("m").versions.at(1).state, ModelState::kUnloading);
  EXPECT_EQ(before.models.size(), 2u);
  EXPECT_EQ(&before.models.at("other"), &directory_.models.at("other"))
      << "what is the same is shared";
  directory_.models.EraseIf([](const ModelEntry& entry) { return entry.reason == "why"; });
  EXPECT_EQ(directory_.models.find("other"), directory_.models.end());
  EXPECT_NE(before.models.find("other"), before.models.end());
  EXPECT_EQ(std::count_if(before.models.begin(), before.models.end(),
                          [](const auto& model) { return model.first == "other"; }),
            1);
}

TEST_F(ModelDirectoryTest, FindsTheVersionAskedFor) {
  Add(1, ModelState::kReady);
  Add(2, ModelState::kReady);
  ASSERT_TRUE(directory_.Find("m", 1).ok());
  EXPECT_EQ((*directory_.Find("m", 1))->config().version, 1);
  EXPECT_EQ((*directory_.Find("m", 2))->config().version, 2);
}

TEST_F(ModelDirectoryTest, WithoutAVersionItIsTheHighestReadyOne) {
  Add(1, ModelState::kReady);
  Add(9, ModelState::kReady);
  Add(10, ModelState::kLoading);
  EXPECT_EQ((*directory_.Find("m", -1))->config().version, 9);
}

TEST_F(ModelDirectoryTest, AnUnknownModel) {
  EXPECT_EQ(directory_.Find("x", -1).status(),
            absl::NotFoundError("Request for unknown model: 'x' is not found"));
  EXPECT_EQ(directory_.Find("", 1).status(),
            absl::NotFoundError("Request for unknown model: '' is not found"));
}

TEST_F(ModelDirectoryTest, AnUnknownVersion) {
  Add(1, ModelState::kReady);
  EXPECT_EQ(directory_.Find("m", 7).status(),
            absl::NotFoundError("Request for unknown model: 'm' version 7 is not found"));
}

TEST_F(ModelDirectoryTest, NoVersionIsReady) {
  Add(1, ModelState::kUnavailable);
  Add(2, ModelState::kLoading);
  EXPECT_EQ(directory_.Find("m", -1).status(),
            absl::NotFoundError("Request for unknown model: 'm' has no available versions"));
  directory_.models["none"].looked_for_versions = true;
  EXPECT_EQ(directory_.Find("none", -1).status(),
            absl::NotFoundError("Request for unknown model: 'none' has no available versions"));
  EXPECT_EQ(directory_.Find("none", 1).status(),
            absl::NotFoundError("Request for unknown model: 'none' version 1 is not found"));
  directory_.models["unreadable"];
  for (const int64_t version : {-1, 1}) {
    EXPECT_EQ(directory_.Find("unreadable", version).status(),
              absl::NotFoundError("Request for unknown model: 'unreadable' is not found"));
  }
}

TEST_F(ModelDirectoryTest, TheVersionIsNotReady) {
  int64_t version = 0;
  for (const ModelState state : {ModelState::kUnknown, ModelState::kUnavailable,
                                 ModelState::kLoading, ModelState::kUnloading}) {
    Add(++version, state);
    EXPECT_EQ(directory_.Find("m", version).status(),
              absl::UnavailableError("Request for unknown model: 'm' version " +
                                     std::to_string(version) + " is not at ready state"));
  }
}

TEST_F(ModelDirectoryTest, WhichVersionsHaveToBeReady) {
  struct Case {
    ModelState state;
    bool retired;
    bool alone,
        beside;  // whether the server may be ready, where no other version serves or one does
  };
  const Case cases[] = {
      {ModelState::kUnknown, false, false, false},  {ModelState::kUnavailable, false, false, false},
      {ModelState::kUnavailable, true, true, true}, {ModelState::kLoading, false, false, true},
      {ModelState::kUnloading, false, true, true},  {ModelState::kReady, false, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(ModelStateName(c.state));
    directory_ = ModelDirectory();
    Add(2, c.state);
    directory_.models["m"].versions[2].retired = c.retired;
    EXPECT_EQ(directory_.Expected().has_value(), c.alone);
    Add(1, ModelState::kReady);
    const auto expected = directory_.Expected();
    ASSERT_EQ(expected.has_value(), c.beside);
    if (!c.beside) continue;
    EXPECT_EQ(expected->size(), c.state == ModelState::kReady ? 2u : 1u);
    EXPECT_EQ(expected->front()->config().version, 1);
  }
}

TEST_F(ModelDirectoryTest, AModelWithoutVersionsCountsIfItsVersionsWereLookedFor) {
  directory_.models["unreadable"].reason = "why";
  EXPECT_TRUE(directory_.Expected().has_value());
  directory_.models["empty"].looked_for_versions = true;
  EXPECT_FALSE(directory_.Expected().has_value());
}

TEST_F(ModelDirectoryTest, APictureKnowsNamesInAllNamespaces) {
  directory_.namespacing = true;
  for (const char* const space : {"/a", "/b"}) {
    directory_.models[std::string(space) + "::both"].id = {space, "both"};
  }
  directory_.models["/a::one"].id = {"/a", "one"};
  const auto finished = [this] {
    auto picture = std::make_shared<ModelDirectory>(directory_);
    picture->Finish();
    return picture;
  };
  const auto picture = finished();
  EXPECT_EQ((*picture->FindEntry("one"))->id.space, "/a");
  EXPECT_EQ(picture->FindEntry("both").status(),
            absl::InvalidArgumentError(
                "There are 2 identifiers of model 'both' in global map, model namespace must be "
                "provided to resolve ambiguity."));
  EXPECT_EQ(picture->FindEntry("none").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(picture->FindMember("/b", "both")->id.space, "/b");
  // A later snapshot has its own entries; the earlier one does not change.
  directory_.models["/a::one"].reason = "why";
  directory_.models["/b::one"].id = {"/b", "one"};
  EXPECT_FALSE(finished()->FindEntry("one").ok());
  EXPECT_EQ((*picture->FindEntry("one"))->reason, "");
}

TEST_F(ModelDirectoryTest, NamesInNamespacesFollowEveryChange) {
  std::mt19937 random(5);
  auto current = std::make_shared<ModelDirectory>();
  current->namespacing = true;
  std::map<std::string, std::set<std::string>> spaces;  // of each name
  for (int step = 0; step < 3000; ++step) {
    auto next = std::make_shared<ModelDirectory>(*current);
    for (int i = 0; i < 3; ++i) {
      const ModelId id{"/" + std::to_string(random() % 3), std::to_string(random() % 20)};
      if (const auto it = next->models.find(id.Text());
          random() % 3 == 0 && it != next->models.end()) {
        next->models.erase(it);
        spaces[id.name].erase(id.space);
      } else {
        ModelEntry& entry = next->models[id.Text()];
        entry.id = id;
        entry.reason = std::to_string(step);
        spaces[id.name].insert(id.space);
      }
    }
    next->Finish();
    current = next;
    for (const auto& [name, present] : spaces) {
      const auto found = current->FindEntry(name);
      ASSERT_EQ(found.ok(), present.size() == 1) << name;
      if (found.ok()) {
        const std::string key = ModelId{*present.begin(), name}.Text();
        ASSERT_EQ(*found, &current->models.at(key)) << "the entry of this snapshot";
      }
    }
  }
}

}  // namespace
}  // namespace nereid
