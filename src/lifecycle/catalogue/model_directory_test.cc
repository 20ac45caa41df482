// SPDX-License-Identifier: Apache-2.0
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

class ModelDirectoryTest : public ::testing::Test {
 protected:
  // Adds a version in `state`. Only one that is ready has a model.
  void Add(int64_t version, VersionState state) {
    VersionEntry entry;
    if (state != VersionState::kAbsent) entry.BeginLoad();
    if (state == VersionState::kFailed) entry.FailLoad("why");
    if (state == VersionState::kDraining || state == VersionState::kRetired) {
      entry.Serve(nullptr);
      entry.Retire("");
    }
    if (state == VersionState::kRetired) entry.TornDown("");
    if (state == VersionState::kReady) {
      repository_.Write("m");
      ConfigSource source;
      source.model_dir = "/models/m";
      source.expected_name = "m";
      auto model = LoadedModel::Load(
          repository_.Context(), *LoadModelConfig(repository_.fs, source), "/models/m", version);
      ASSERT_TRUE(model.ok()) << model.status();
      entry.Serve(*std::move(model));
    }
    ASSERT_EQ(entry.state(), state);
    directory_.models["m"].versions[version] = std::move(entry);
  }

  FakeRepository repository_;
  ModelDirectory directory_;
};

TEST_F(ModelDirectoryTest, AChangeLeavesCopiesAsTheyWere) {
  Add(1, VersionState::kReady);
  directory_.models["other"].reason = "why";
  const ModelDirectory before = directory_;
  directory_.models["m"].versions[1].Retire("");
  directory_.models["new"];
  EXPECT_EQ(before.models.at("m").versions.at(1).state(), VersionState::kReady);
  EXPECT_EQ(directory_.models.at("m").versions.at(1).state(), VersionState::kDraining);
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
  Add(1, VersionState::kReady);
  Add(2, VersionState::kReady);
  ASSERT_TRUE(directory_.Find("m", 1).ok());
  EXPECT_EQ((*directory_.Find("m", 1))->config().version, 1);
  EXPECT_EQ((*directory_.Find("m", 2))->config().version, 2);
}

TEST_F(ModelDirectoryTest, WithoutAVersionItIsTheHighestReadyOne) {
  Add(1, VersionState::kReady);
  Add(9, VersionState::kReady);
  Add(10, VersionState::kLoading);
  EXPECT_EQ((*directory_.Find("m", -1))->config().version, 9);
}

TEST_F(ModelDirectoryTest, AnUnknownModel) {
  EXPECT_EQ(directory_.Find("x", -1).status(),
            absl::NotFoundError("Request for unknown model: 'x' is not found"));
  EXPECT_EQ(directory_.Find("", 1).status(),
            absl::NotFoundError("Request for unknown model: '' is not found"));
}

TEST_F(ModelDirectoryTest, AnUnknownVersion) {
  Add(1, VersionState::kReady);
  EXPECT_EQ(directory_.Find("m", 7).status(),
            absl::NotFoundError("Request for unknown model: 'm' version 7 is not found"));
}

TEST_F(ModelDirectoryTest, NoVersionIsReady) {
  Add(1, VersionState::kFailed);
  Add(2, VersionState::kLoading);
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
  for (const VersionState state :
       {VersionState::kAbsent, VersionState::kFailed, VersionState::kRetired,
        VersionState::kLoading, VersionState::kDraining}) {
    Add(++version, state);
    EXPECT_EQ(directory_.Find("m", version).status(),
              absl::UnavailableError("Request for unknown model: 'm' version " +
                                     std::to_string(version) + " is not at ready state"));
  }
}

TEST_F(ModelDirectoryTest, WhichVersionsHaveToBeReady) {
  struct Case {
    VersionState state;
    bool alone,
        beside;  // whether the server may be ready, where no other version serves or one does
  };
  const Case cases[] = {
      {VersionState::kAbsent, false, false}, {VersionState::kFailed, false, false},
      {VersionState::kRetired, true, true},  {VersionState::kLoading, false, true},
      {VersionState::kDraining, true, true}, {VersionState::kReady, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(VersionStateName(c.state));
    directory_ = ModelDirectory();
    Add(2, c.state);
    EXPECT_EQ(directory_.Expected().has_value(), c.alone);
    Add(1, VersionState::kReady);
    const auto expected = directory_.Expected();
    ASSERT_EQ(expected.has_value(), c.beside);
    if (!c.beside) continue;
    EXPECT_EQ(expected->size(), c.state == VersionState::kReady ? 2u : 1u);
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
