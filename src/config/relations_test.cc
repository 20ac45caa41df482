// SPDX-License-Identifier: Apache-2.0
#include "config/relations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "config/testing/config_text.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

ParsedConfig Parsed(const std::string& text) {
  return ParsedConfig(std::make_unique<inference::ModelConfig>(ConfigFromText(text)), true);
}

TEST(RelationsTest, MembersAreNamedOnceEach) {
  const auto members = EnsembleMembersOf(Parsed(R"(
    name: "e" platform: "ensemble"
    ensemble_scheduling {
      step { model_name: "a" model_version: -1 }
      step { model_name: "b" model_version: 2 }
      step { model_name: "a" model_version: -1 }
      step { model_name: "a" model_version: 1 }
    })"));
  EXPECT_THAT(members,
              ElementsAre(EnsembleMember{"a", -1}, EnsembleMember{"b", 2}, EnsembleMember{"a", 1}));
  EXPECT_THAT(EnsembleMembersOf(Parsed("name: \"m\"")), IsEmpty());
}

TEST(RelationsTest, AgentsComeInOrderAndTheirParametersByName) {
  const auto agents = RepositoryAgentsOf(Parsed(R"(
    model_repository_agents {
      agents { name: "z" parameters { key: "q" value: "2" } parameters { key: "b" value: "1" } }
      agents { name: "checksum" }
    })"));
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_EQ(agents[0].name, "z");
  EXPECT_THAT(agents[0].parameters, ElementsAre(Pair("b", "1"), Pair("q", "2")));
  EXPECT_EQ(agents[1].name, "checksum");
}

TEST(RelationsTest, WhatChangedDecidesWhetherTheModelCanGoOn) {
  const std::string base = "name: \"m\" max_batch_size: 4 ";
  const ParsedConfig before = Parsed(base + "instance_group { count: 1 }");
  struct Case {
    const char* rest;
    ConfigChange change;
  };
  for (const Case& c :
       {Case{"instance_group { count: 1 }", ConfigChange::kNone},
        Case{"instance_group { count: 2 }", ConfigChange::kInPlace},
        Case{"", ConfigChange::kInPlace},
        Case{"instance_group { count: 1 } version_policy { all {} }", ConfigChange::kInPlace},
        Case{"instance_group { count: 1 } dynamic_batching {}", ConfigChange::kOther},
        Case{"instance_group { count: 2 } parameters { key: \"k\" }", ConfigChange::kOther}}) {
    EXPECT_EQ(CompareConfigs(before, Parsed(base + c.rest)), c.change) << c.rest;
  }
}

}  // namespace
}  // namespace nereid
