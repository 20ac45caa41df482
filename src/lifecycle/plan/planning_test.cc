// SPDX-License-Identifier: Apache-2.0
// The pure parts of model management: dependencies, changes of instances, and plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lifecycle/model/instance_set.h"
#include "lifecycle/plan/load_planner.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ModelId Id(const std::string& name, const std::string& space = "") { return {space, name}; }

// ---- Dependencies

TEST(DependencyGraphTest, FindsMembersAndUsersAlsoThroughOthers) {
  const DependencyGraph graph({{Id("a"), {}}, {Id("b"), {"a"}}, {Id("c"), {"b", "a"}}});
  EXPECT_THAT(graph.Members(Id("c")), UnorderedElementsAre(Id("a"), Id("b")));
  EXPECT_THAT(graph.Users(Id("b")), UnorderedElementsAre(Id("c")));
  EXPECT_THAT(graph.AllUsers(Id("a")), UnorderedElementsAre(Id("b"), Id("c")));
  EXPECT_THAT(graph.AllMembers(Id("c")), UnorderedElementsAre(Id("a"), Id("b")));
  EXPECT_THAT(graph.AllMembers(Id("unknown")), IsEmpty());
  EXPECT_THAT(graph.InOrder({Id("a"), Id("b"), Id("c")}), ElementsAre(Id("a"), Id("b"), Id("c")));
  EXPECT_THAT(graph.InOrder({Id("c"), Id("a")}), ElementsAre(Id("a"), Id("c")));
  EXPECT_TRUE(graph.Check(Id("c")).ok());
}

TEST(DependencyGraphTest, AMemberIsSoughtInTheOwnRepositoryFirst) {
  const DependencyGraph graph({{Id("m", "/x"), {}},
                               {Id("m", "/y"), {}},
                               {Id("only", "/y"), {}},
                               {Id("e", "/x"), {"m", "only"}},
                               {Id("f", "/z"), {"m"}}});
  EXPECT_THAT(graph.Members(Id("e", "/x")), UnorderedElementsAre(Id("m", "/x"), Id("only", "/y")));
  EXPECT_EQ(graph.Check(Id("f", "/z")).message(),
            "ensemble f contains models that are not available or ambiguous: m");
}

TEST(DependencyGraphTest, NamesWhatIsMissingAndCircles) {
  const DependencyGraph graph({{Id("a"), {"c"}},
                               {Id("b"), {"a"}},
                               {Id("c"), {"b"}},
                               {Id("e"), {"y", "x"}},
                               {Id("outside"), {"a"}},
                               {Id("self"), {"self"}}});
  EXPECT_EQ(graph.Check(Id("e")).message(),
            "ensemble e contains models that are not available or ambiguous: x, y");
  EXPECT_EQ(graph.Check(Id("a")).message(),
            "circular dependency between ensembles: a -> ... -> b -> a");
  EXPECT_EQ(graph.Check(Id("self")).message(),
            "circular dependency between ensembles: self -> ... -> self -> self");
  EXPECT_TRUE(graph.Check(Id("outside")).ok()) << "it is not in the circle itself";
  EXPECT_EQ(graph.InOrder({Id("a"), Id("b"), Id("c")}).size(), 3u);
}

// ---- Instances

InstanceSpec Instance(const std::string& name, const std::string& policy = "cpu") {
  InstanceSpec spec;
  spec.name = name;
  spec.host_policy_name = policy;
  return spec;
}

TEST(InstanceChangesTest, KeepsWhatDiffersInItsNameOnly) {
  const std::vector<InstanceSpec> two = {Instance("g_0"), Instance("g_1")};
  EXPECT_EQ(CompareInstances(two, two), InstanceChanges({}, {}));
  EXPECT_EQ(CompareInstances(two, {Instance("h_0")}), InstanceChanges({1}, {}));
  EXPECT_EQ(CompareInstances(two, {Instance("g_0"), Instance("g_1"), Instance("g_2")}),
            InstanceChanges({}, {2}));
  EXPECT_EQ(CompareInstances(two, {Instance("g_0", "other"), Instance("g_1")}),
            InstanceChanges({1}, {0}));
  InstanceSpec passive = Instance("g_0");
  passive.passive = true;
  InstanceSpec needy = Instance("g_0");
  needy.resources = {{"R", false, 2}};
  InstanceSpec patient = Instance("g_0");
  patient.rate_priority = 2;
  for (const InstanceSpec& other : {passive, needy, patient}) {
    EXPECT_EQ(CompareInstances({Instance("g_0")}, {other}), InstanceChanges({0}, {0}));
  }
}

// ---- Plans

ModelFiles Files(int64_t stamp) {
  ModelFiles files;
  files.files["1/model"] = {.is_directory = false, .size = 1, .mtime_ns = stamp};
  return files;
}

// Models in different states. Files have stamp 1 unless said otherwise.
RunningModel Serves(std::vector<std::string> members = {}) {
  return {Files(1),
          std::move(members),
          /*serving=*/true,
          /*wanted=*/true,
          /*on_request=*/true,
          /*from_request_files=*/false,
          /*failed=*/false};
}
RunningModel Failed(std::vector<std::string> members = {}) {
  RunningModel model = Serves(std::move(members));
  model.serving = false;
  return model;
}
RunningModel Unloaded() {
  RunningModel model = Failed();
  model.wanted = false;
  return model;
}
RunningModel AsMember() {
  RunningModel model = Serves();
  model.on_request = false;
  return model;
}
FoundModel Found(std::vector<std::string> members = {}, int64_t stamp = 1) {
  return {Files(stamp), std::move(members)};
}

const LoadIntent kSync;
LoadIntent Load(const std::string& name, bool overridden = false) {
  return {LoadIntent::Kind::kLoad, Id(name), overridden, false};
}
LoadIntent Unload(const std::string& name, bool with_members = false) {
  return {LoadIntent::Kind::kUnload, Id(name), false, with_members};
}

using RunningModels = std::map<ModelId, RunningModel>;
using FoundModels = std::map<ModelId, FoundModel>;

// One text per action: "+name" or "-name", "!" if it was requested by name, the numbers of the
// actions that it waits for, and the reason.
std::string Text(const std::vector<PlannedAction>& actions) {
  std::vector<std::string> texts;
  for (const PlannedAction& action : actions) {
    texts.push_back(absl::StrCat(
        action.kind == PlannedAction::Kind::kLoad ? "+" : "-", action.model.name,
        action.on_request ? "!" : "",
        action.after.empty() ? "" : absl::StrCat("(", absl::StrJoin(action.after, ","), ")"),
        action.reason.empty() ? "" : absl::StrCat(" [", action.reason, "]")));
  }
  return absl::StrJoin(texts, " ");
}

struct PlanCase {
  const char* what;
  RunningModels running;
  FoundModels found;
  std::vector<LoadIntent> intents;
  const char* plan;
};

TEST(LoadPlannerTest, PlansWhatIsToBeDone) {
  const FoundModels pair = {{Id("a"), Found()}, {Id("e"), Found({"a"})}};
  const std::vector<PlanCase> cases = {
      // Syncing with the repositories.
      {"everything is new", {}, {{Id("a"), Found()}, {Id("b"), Found()}}, {kSync}, "+a! +b!"},
      {"nothing has changed", {{Id("a"), Serves()}}, {{Id("a"), Found()}}, {kSync}, ""},
      {"other files", {{Id("a"), Serves()}}, {{Id("a"), Found({}, 2)}}, {kSync}, "+a!"},
      {"a failure is not tried again", {{Id("a"), Failed()}}, {{Id("a"), Found()}}, {kSync}, ""},
      {"a failure is repaired", {{Id("a"), Failed()}}, {{Id("a"), Found({}, 2)}}, {kSync}, "+a!"},
      {"gone", {{Id("a"), Serves()}}, {}, {kSync}, "-a"},
      {"gone long ago", {{Id("a"), Unloaded()}}, {}, {kSync}, ""},
      {"back again", {{Id("a"), Unloaded()}}, {{Id("a"), Found()}}, {kSync}, "+a!"},
      {"members first", {}, pair, {kSync}, "+a! +e!(0)"},
      {"a member changes",
       {{Id("a"), Serves()}, {Id("e"), Serves({"a"})}},
       {{Id("a"), Found({}, 2)}, {Id("e"), Found({"a"})}},
       {kSync},
       "+a! +e(0)"},
      {"a member goes",
       {{Id("a"), Serves()}, {Id("e"), Serves({"a"})}},
       {{Id("e"), Found({"a"})}},
       {kSync},
       "-e [ensemble 'e' depends on 'a' which has no loaded version.] -a(0)"},
      {"a member comes back",
       {{Id("a"), Unloaded()}, {Id("e"), Failed({"a"})}},
       pair,
       {kSync},
       "+a! +e(0)"},
      {"both go", {{Id("a"), Serves()}, {Id("e"), Serves({"a"})}}, {}, {kSync}, "-e -a(0)"},
      {"a member was never there",
       {},
       {{Id("e"), Found({"x"})}},
       {kSync},
       "+e! [ensemble e contains models that are not available or ambiguous: x]"},
      {"a diamond",
       {},
       {{Id("top"), Found({"left", "right"})},
        {Id("left"), Found({"base"})},
        {Id("right"), Found({"base"})},
        {Id("base"), Found()}},
       {kSync},
       "+base! +left!(0) +right!(0) +top!(1,2)"},
      // Loading by name.
      {"load", {}, {{Id("a"), Found()}}, {Load("a")}, "+a!"},
      {"load what is there", {{Id("a"), Serves()}}, {{Id("a"), Found()}}, {Load("a")}, ""},
      {"load what failed", {{Id("a"), Failed()}}, {{Id("a"), Found()}}, {Load("a")}, "+a!"},
      {"load again by name what a member was",
       {{Id("a"), Unloaded()}},
       {{Id("a"), Found()}},
       {Load("a")},
       "+a!"},
      {"load again what failed although it serves",
       {{Id("a"),
         [] {
           auto m = Serves();
           m.failed = true;
           return m;
         }()}},
       {{Id("a"), Found()}},
       {Load("a")},
       "+a!"},
      {"load without parameters what had some",
       {{Id("a"),
         [] {
           auto m = Serves();
           m.from_request_files = true;
           return m;
         }()}},
       {{Id("a"), Found()}},
       {Load("a")},
       "+a!"},
      {"load with parameters",
       {{Id("a"), Serves()}},
       {{Id("a"), Found()}},
       {Load("a", true)},
       "+a!"},
      {"load an ensemble", {}, pair, {Load("e")}, "+a +e!(0)"},
      {"load an ensemble whose member is there",
       {{Id("a"), Serves()}},
       {{Id("e"), Found({"a"})}},
       {Load("e")},
       "+e!"},
      {"load an ensemble that has lost a member",
       {{Id("a"), Unloaded()}, {Id("e"), Serves({"a"})}},
       pair,
       {Load("e")},
       "+a +e(0)"},
      {"reload a member",
       {{Id("a"), Serves()}, {Id("e"), Serves({"a"})}},
       {{Id("a"), Found({}, 2)}},
       {Load("a")},
       "+a! +e(0)"},
      {"an ensemble unloaded on purpose stays so",
       {{Id("a"), Serves()}, {Id("e"), Unloaded()}},
       {{Id("a"), Found({}, 2)}},
       {Load("a")},
       "+a!"},
      // Unloading by name.
      {"unload", {{Id("a"), Serves()}}, {}, {Unload("a")}, "-a"},
      {"unload an ensemble",
       {{Id("a"), AsMember()}, {Id("e"), Serves({"a"})}},
       {},
       {Unload("e")},
       "-e"},
      {"unload an ensemble and its members",
       {{Id("a"), AsMember()}, {Id("b"), Serves()}, {Id("e"), Serves({"a", "b"})}},
       {},
       {Unload("e", true)},
       "-e -a(0)"},
      {"members that others use stay",
       {{Id("a"), AsMember()}, {Id("e"), Serves({"a"})}, {Id("f"), Serves({"a"})}},
       {},
       {Unload("e", true)},
       "-e"},
      {"members of members go, too",
       {{Id("a"), AsMember()},
        {Id("e"),
         [] {
           auto m = AsMember();
           m.members = {"a"};
           return m;
         }()},
        {Id("f"), Serves({"e"})}},
       {},
       {Unload("f", true)},
       "-f -e(0) -a(1)"},
      {"unload a member",
       {{Id("a"), Serves()}, {Id("e"), Serves({"a"})}},
       {},
       {Unload("a")},
       "-e [ensemble 'e' depends on 'a' which has no loaded version.] -a(0)"},
  };
  for (const PlanCase& c : cases) {
    EXPECT_EQ(Text(PlanLoads({c.running, c.found, {}, c.intents})), c.plan) << c.what;
  }
}

TEST(LoadPlannerTest, ANameInTwoRepositoriesIsUnloadedAndSaysWhy) {
  LoadInput input;
  input.running = {{Id("a"), Serves()}};
  input.ambiguous = {"a"};
  input.intents = {kSync};
  EXPECT_EQ(Text(PlanLoads(input)), "-a [model appears in two or more repositories]");
}

TEST(LoadPlannerTest, ACircleIsAnErrorOfItsModels) {
  LoadInput input;
  input.found = {{Id("a"), Found({"b"})}, {Id("b"), Found({"a"})}, {Id("c"), Found()}};
  input.intents = {kSync};
  const std::vector<PlannedAction> plan = PlanLoads(input);
  ASSERT_EQ(plan.size(), 3u);
  for (const PlannedAction& action : plan) {
    EXPECT_EQ(action.reason.empty(), action.model.name == "c") << action.model.name;
    for (const size_t other : action.after) EXPECT_LT(other, plan.size());
  }
}

TEST(LoadPlannerTest, WhatOthersWorkOnIsLeftOut) {
  LoadInput input;
  input.found = {{Id("a"), Found()}, {Id("b"), Found()}, {Id("e"), Found({"a", "b"})}};
  input.intents = {kSync};
  EXPECT_EQ(Text(PlanLoads(input)), "+a! +b! +e!(0,1)");
  EXPECT_EQ(Text(WithoutModels(PlanLoads(input), {Id("a")})), "+b! +e!(0)");
}

}  // namespace
}  // namespace nereid
