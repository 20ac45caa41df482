// SPDX-License-Identifier: Apache-2.0
// Claims of models, and what the catalogue remembers. For whole loads see model_manager_test.cc.
#include "lifecycle/catalogue/model_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ModelId kA{"", "a"};
const ModelId kB{"", "b"};
const ModelId kE{"", "e"};

class ModelCatalogueTest : public ::testing::Test {
 protected:
  static PlannedAction LoadOf(const ModelId& id) {
    PlannedAction action;
    action.model = id;
    return action;
  }

  static std::vector<std::string> Names(const std::vector<PlannedAction>& actions) {
    std::vector<std::string> names;
    for (const PlannedAction& action : actions) names.push_back(action.model.name);
    return names;
  }

  std::optional<ModelCatalogue::Claim> Claim(const ModelId& id) { return Claim(id, {}); }
  std::optional<ModelCatalogue::Claim> Claim(const ModelId& id,
                                             const std::vector<std::string>& members) {
    return catalogue_.ClaimLoad({id}, {LoadOf(id)}, {{id, {{}, members}}}, catalogue_.Look().now)
        .claim;
  }

  // Does a load of `id`, which has `members`, from its claim to its end.
  void Load(const ModelId& id, const std::vector<std::string>& members = {}, bool ok = true,
            const std::string& config = "") {
    std::optional<ModelCatalogue::Claim> claim = Claim(id, members);
    ASSERT_TRUE(claim.has_value());
    EndLoad(id, &claim->marks[0], members, ok, config);
  }

  bool EndLoad(const ModelId& id, ModelCatalogue::BusyMark* mark,
               const std::vector<std::string>& members = {}, bool ok = true,
               const std::string& config = "") {
    auto model = std::make_shared<PreparedModel>();
    model->id = id;
    if (!config.empty()) model->config_override = config;
    for (const std::string& name : members) model->members.push_back({name, {}});
    ModelCatalogue::Records fresh;
    fresh[id].attempted = std::move(model);
    return catalogue_.NoteLoadEnd(id, ok, true, ok ? "" : "why", &fresh, mark);
  }

  TimePoint Now() { return clock_.Now(); }

  FakeClock clock_;
  std::vector<ModelId> released_;
  ModelCatalogue catalogue_{&clock_, false, [this](const ModelId& id) { released_.push_back(id); }};
};

TEST_F(ModelCatalogueTest, AClaimKeepsOthersAwayUntilItGoes) {
  {
    const std::optional<ModelCatalogue::Claim> claim = Claim(kA);
    ASSERT_TRUE(claim.has_value());
    EXPECT_FALSE(catalogue_.WaitNotBusy(kA, Now()));
    EXPECT_FALSE(catalogue_.WaitNoneBusy(Now()));
    EXPECT_TRUE(catalogue_.WaitNotBusy(kB, Now()));
    EXPECT_THAT(catalogue_.Look().busy, ElementsAre(kA));
  }
  EXPECT_TRUE(catalogue_.WaitNoneBusy(Now()));
}

TEST_F(ModelCatalogueTest, WhoFindsAModelClaimedIsToldSoAndWhenItIsFree) {
  std::optional<ModelCatalogue::Claim> first = Claim(kA);
  const auto load = catalogue_.ClaimLoad({kA}, {LoadOf(kA)}, {{kA, {}}}, catalogue_.Look().now);
  EXPECT_FALSE(load.claim.has_value());
  EXPECT_EQ(load.busy, kA);
  EXPECT_EQ(catalogue_.ClaimUnload({kA}, false).busy, kA);
  EXPECT_FALSE(catalogue_.LookAround(kA).has_value());
  EXPECT_TRUE(catalogue_.IsBusy(kA));
  EXPECT_THAT(released_, IsEmpty());
  first.reset();
  EXPECT_THAT(released_, ElementsAre(kA));
  EXPECT_FALSE(catalogue_.IsBusy(kA));
  EXPECT_TRUE(Claim(kA).has_value());
}

TEST_F(ModelCatalogueTest, EveryEndOfAClaimFreesItsModel) {
  Load(kA);
  EXPECT_THAT(released_, ElementsAre(kA));
  ModelCatalogue::ClaimResult unload = catalogue_.ClaimUnload({kA}, false);
  ASSERT_TRUE(unload.claim.has_value());
  EXPECT_THAT(released_, ElementsAre(kA)) << "claimed again";
  catalogue_.NoteUnloadEnd(kA, std::move(unload.claim->marks[0]));
  EXPECT_THAT(released_, ElementsAre(kA, kA));
}

TEST_F(ModelCatalogueTest, AnUnloadIsToldOfAnEnsembleThatIsBeingLoaded) {
  Load(kA);
  std::optional<ModelCatalogue::Claim> ensemble =
      catalogue_.ClaimLoad({kE}, {LoadOf(kE)}, {{kE, {{}, {"a"}}}}, catalogue_.Look().now).claim;
  ASSERT_TRUE(ensemble.has_value());
  EXPECT_EQ(catalogue_.ClaimUnload({kA}, false).busy, kE);
}

TEST_F(ModelCatalogueTest, AClaimFailsIfTheModelHasChangedSince) {
  const uint64_t before = catalogue_.Look().now;
  Load(kA);
  EXPECT_FALSE(catalogue_.ClaimLoad({kA}, {LoadOf(kA)}, {{kA, {}}}, before).claim.has_value());
  EXPECT_TRUE(Claim(kA).has_value());
}

TEST_F(ModelCatalogueTest, ModelsThatThePlanHasNotReadAreSkippedWhileOthersWorkOnThem) {
  std::optional<ModelCatalogue::Claim> ensemble = Claim(kE);
  std::optional<ModelCatalogue::Claim> member =
      catalogue_.ClaimLoad({kA}, {LoadOf(kA), LoadOf(kE)}, {{kA, {}}}, catalogue_.Look().now).claim;
  ASSERT_TRUE(member.has_value());
  EXPECT_THAT(Names(member->actions), ElementsAre("a"));
  EXPECT_THAT(Names(member->skipped), ElementsAre("e"));
  // The load that works on the skipped model loads it again.
  EXPECT_THAT(catalogue_.ClaimAgain(std::move(member->skipped)).actions, IsEmpty());
  EXPECT_TRUE(EndLoad(kE, &ensemble->marks[0], {"a"})) << "it is to be loaded again";
  EXPECT_FALSE(catalogue_.WaitNotBusy(kE, Now())) << "and stays claimed";
  EXPECT_FALSE(EndLoad(kE, &ensemble->marks[0], {"a"}));
  EXPECT_TRUE(catalogue_.WaitNotBusy(kE, Now()));
}

TEST_F(ModelCatalogueTest, OnlyWhatIsWantedIsCheckedAgain) {
  EXPECT_THAT(catalogue_.ClaimAgain({LoadOf(kE)}).actions, IsEmpty()) << "it is not known";
  Load(kE, {"a"});
  EXPECT_THAT(Names(catalogue_.ClaimAgain({LoadOf(kE)}).actions), ElementsAre("e"));
  catalogue_.NoteRetired(kE, "", [](int64_t, const VersionEntry&) {});
  EXPECT_THAT(catalogue_.ClaimAgain({LoadOf(kE)}).actions, IsEmpty()) << "it was unloaded";
}

TEST_F(ModelCatalogueTest, AnUnloadClaimsTheUsersOfTheModelToo) {
  const ModelCatalogue::ClaimResult unknown = catalogue_.ClaimUnload({kA}, false);
  EXPECT_FALSE(unknown.claim.has_value() || unknown.busy.has_value()) << "it was never loaded";
  Load(kA);
  Load(kE, {"a"});
  const std::optional<ModelCatalogue::Claim> claim = catalogue_.ClaimUnload({kA}, false).claim;
  ASSERT_TRUE(claim.has_value());
  EXPECT_THAT(Names(claim->actions), ElementsAre("e", "a"));
}

TEST_F(ModelCatalogueTest, WhatAPollSkipsIsLoadedAgainUnlessItWasBusyBefore) {
  std::optional<ModelCatalogue::Claim> a = Claim(kA);
  std::optional<ModelCatalogue::Claim> b = Claim(kB);
  const ModelCatalogue::Claim poll =
      catalogue_.ClaimSync({LoadOf(kA), LoadOf(kB), LoadOf(kE)}, {}, /*known_busy=*/{kB});
  EXPECT_THAT(Names(poll.actions), ElementsAre("e"));
  EXPECT_TRUE(EndLoad(kA, &a->marks[0]));
  EXPECT_FALSE(EndLoad(kB, &b->marks[0]));
  EXPECT_FALSE(EndLoad(kA, &a->marks[0])) << "once";
}

TEST_F(ModelCatalogueTest, WhatIsInForceIsWhatServesOrWaitsForAMember) {
  EXPECT_EQ(catalogue_.LookAround(kA)->in_force, nullptr);
  Load(kA, {}, true, "first");
  EXPECT_EQ(catalogue_.LookAround(kA)->in_force->config_override, "first");
  Load(kA, {}, false, "second");
  EXPECT_EQ(catalogue_.LookAround(kA)->in_force->config_override, "first") << "the second failed";
  EXPECT_EQ(catalogue_.LastError(kA), "why");
  catalogue_.NoteRetired(kA, "", [](int64_t, const VersionEntry&) {});
  EXPECT_EQ(catalogue_.LookAround(kA)->in_force, nullptr) << "unloaded on purpose";
  Load(kE, {"a"}, true, "first");
  catalogue_.NoteRetired(kE, "its member has gone", [](int64_t, const VersionEntry&) {});
  EXPECT_EQ(catalogue_.LookAround(kE)->in_force->config_override, "first");
}

TEST_F(ModelCatalogueTest, ALookAroundSeesTheModelTheEnsemblesAndTheirMembers) {
  const ModelId elsewhere{"/other", "b"};
  for (const ModelId& id : {kA, kB, elsewhere, ModelId{"", "c"}, ModelId{"/other", "c"}}) Load(id);
  Load(kE, {"b", "unknown"});
  const auto seen = [this](const ModelId& id) {
    std::vector<std::string> names;
    const std::optional<ModelCatalogue::View> view = catalogue_.LookAround(id);
    for (const auto& [other, model] : view->running) names.push_back(other.Text());
    return names;
  };
  EXPECT_THAT(seen(kA), ElementsAre("a", "b", "e", "/other::b"));
  EXPECT_THAT(seen({"", "new"}), ElementsAre("b", "e", "/other::b"));
  Load(kE);  // it is no ensemble any more
  EXPECT_THAT(seen(kA), ElementsAre("a"));
}

TEST_F(ModelCatalogueTest, AChangeThatThrowsChangesNothing) {
  EXPECT_THROW(catalogue_.Update([](ModelDirectory* directory) {
    directory->models["a"].reason = "half";
    throw std::bad_alloc();
  }),
               std::bad_alloc);
  EXPECT_EQ(catalogue_.Directory().models.size(), 0u);
}

TEST_F(ModelCatalogueTest, AFailureIsTheReasonUnlessAVersionServes) {
  catalogue_.NoteFailure(kA, absl::InvalidArgumentError("why"));
  EXPECT_EQ(catalogue_.Directory().models.at("a").reason, "why");
  catalogue_.Update([](ModelDirectory* directory) {
    VersionEntry& version = directory->models["b"].versions[1];
    version.BeginLoad();
    version.Serve(nullptr);
  });
  catalogue_.NoteFailure(kB, absl::InvalidArgumentError("why"));
  EXPECT_EQ(catalogue_.Directory().models.at("b").reason, "");
}

TEST_F(ModelCatalogueTest, ModelsWithoutVersionsAreForgottenWithTheirFiles) {
  catalogue_.NoteFailure(kA, absl::InvalidArgumentError("why"));
  catalogue_.NoteFailure(kB, absl::InvalidArgumentError("why"));
  RepositorySnapshot snapshot;
  snapshot.models[kB] = {};
  catalogue_.Forget(snapshot);
  EXPECT_EQ(catalogue_.Directory().models.size(), 1u);
  EXPECT_EQ(catalogue_.Directory().models.begin()->first, "b");
}

}  // namespace
}  // namespace nereid
