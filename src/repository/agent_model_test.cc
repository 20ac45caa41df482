// SPDX-License-Identifier: Apache-2.0
#include "repository/agent_model.h"

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/temp_dir.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AgentChainTest : public ::testing::Test {
 protected:
  RepositoryAgentSpec Agent(const std::string& name,
                            std::vector<std::pair<std::string, std::string>> more = {}) {
    RepositoryAgentSpec spec{name, {{"journal", dir_.Path("journal")}}};
    for (auto& parameter : more) spec.parameters.push_back(std::move(parameter));
    return spec;
  }

  absl::StatusOr<std::unique_ptr<AgentChain>> Load(const std::vector<RepositoryAgentSpec>& specs) {
    return AgentChain::Load(&agents_, specs, "/where/the/model/is",
                            [&](const std::string& location) {
                              seen_.push_back(location);
                              return "{}";
                            });
  }

  // The calls of the agents since the last call of Journal.
  std::vector<std::string> Journal() {
    std::ostringstream text;
    text << std::ifstream(dir_.Path("journal")).rdbuf();
    std::filesystem::remove(dir_.Path("journal"));
    return absl::StrSplit(text.str(), '\n', absl::SkipEmpty());
  }

  TempDir dir_;
  RepositoryAgents agents_{NEREID_TEST_AGENTS};
  std::vector<std::string> seen_;  // locations that agents were shown
};

TEST_F(AgentChainTest, AgentsSeeTheWholeLifeOfAModel) {
  auto chain = Load({Agent("fake"), Agent("second")});
  ASSERT_TRUE(chain.ok()) << chain.status();
  EXPECT_THAT(Journal(),
              ElementsAre("fake: initialize", "fake: load", "second: initialize", "second: load"));
  (*chain)->EndLoad(true);
  (*chain)->EndLoad(true);
  EXPECT_THAT(Journal(), ElementsAre("second: load_complete", "fake: load_complete"));
  (*chain)->Unload();
  (*chain)->Unload();
  EXPECT_THAT(Journal(), ElementsAre("fake: unload", "second: unload"));
  chain->reset();
  EXPECT_THAT(Journal(), ElementsAre("second: unload_complete", "second: finalize",
                                     "fake: unload_complete", "fake: finalize"));
}

TEST_F(AgentChainTest, AModelThatGoesEarlyTakesTheStepsThatAreLeft) {
  { auto chain = Load({Agent("fake")}); }
  EXPECT_THAT(Journal(),
              ElementsAre("fake: initialize", "fake: load", "fake: load_fail", "fake: finalize"));
  {
    auto chain = Load({Agent("fake")});
    (*chain)->EndLoad(true);
  }
  EXPECT_THAT(Journal(), ElementsAre("fake: initialize", "fake: load", "fake: load_complete",
                                     "fake: unload", "fake: unload_complete", "fake: finalize"));
}

TEST_F(AgentChainTest, AFailedLoadIsToldInReverse) {
  auto chain = Load({Agent("fake"), Agent("second")});
  Journal();
  (*chain)->EndLoad(false);
  EXPECT_THAT(Journal(), ElementsAre("second: load_fail", "fake: load_fail"));
  (*chain)->Unload();
  EXPECT_THAT(Journal(), IsEmpty());
}

TEST_F(AgentChainTest, AnAgentMayRefuseAndMayRelocate) {
  EXPECT_EQ(Load({Agent("fake"), Agent("second", {{"refuse", "not this one"}})}).status(),
            absl::InvalidArgumentError("not this one"));
  seen_.clear();
  std::string location;
  {
    auto chain = Load({Agent("fake", {{"relocate", "file"}}), Agent("second")});
    ASSERT_TRUE(chain.ok()) << chain.status();
    location = (*chain)->location();
    EXPECT_TRUE(std::filesystem::exists(location + "/file"));
    EXPECT_THAT(seen_, ElementsAre("/where/the/model/is", location));
  }
  EXPECT_FALSE(std::filesystem::exists(location)) << "it goes with the model";
}

TEST_F(AgentChainTest, AnAgentThatIsNotThereIsNamed) {
  for (const char* name : {"nobody", "../fake", ".."}) {
    const absl::Status status = Load({Agent(name)}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(name));
  }
}

}  // namespace
}  // namespace nereid
