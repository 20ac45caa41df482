// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_state.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "filesystem/temp_directory.h"
#include "tune/config_file.h"
#include "tune/private_server.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

std::string Text(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void Write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

TuneState Some() {
  TuneState state;
  state.key = "model \"m\"\n";
  ServiceTimes times;
  times.by_batch_us = {{1, 10.5}, {8, 20}};
  times.slowdown = {{1, {{1, 1}, {2, 1.25}}}, {8, {{1, 1}}}};
  times.memory_mib = {{4, 100}};
  times.overhead_us = 12;
  times.overhead_varies_us = {{1, -3}, {500, 0}, {990, 40}};
  times.cpu_us = 7;
  times.busy_cpu_us = 5;
  times.rest_us = 7;
  times.processors = 2;
  times.execution_processors = 1.5;
  state.models.push_back({"{\"name\":\"m\"}", {{Engine(), times}, {Engine{2, "openvino"}, times}}});
  Measurement measurement;
  measurement.performance = {4, 100.5, 1, 2, 3.5};
  measurement.errors = 2;
  measurement.memory_mib = 33;
  state.measured.push_back({{{2, 8, true, {4, 8}, 500, {2}}}, measurement});
  return state;
}

TEST(TuneState, IsReadAsItWasWritten) {
  const auto read = ParseTuneState(TuneStateJson(Some()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(TuneStateJson(*read), TuneStateJson(Some()));
  const Measurement* const found = read->Find({{2, 8, true, {4, 8}, 500, {2}}});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->errors, 2u);
  EXPECT_EQ(read->Find({{2, 8, true, {4}, 500, {2}}}), nullptr);
  EXPECT_EQ(read->Find({{2, 8, true, {4, 8}, 500}}), nullptr);
  EXPECT_EQ(read->models[0].times.at(Engine{2, "openvino"}).execution_processors, 1.5);
  EXPECT_EQ(ParseTuneState("{}").status().message(),
            "it is not a state file of `nereid tune` of version 3");
}

TEST(TuneState, AMeasurementReplacesTheOneBefore) {
  TuneState state = Some();
  const Configuration configuration = state.measured[0].configuration;
  Measurement again;
  again.times = 2;
  state.Put(configuration, again);
  EXPECT_EQ(state.measured.size(), 1u);
  EXPECT_EQ(ParseTuneState(TuneStateJson(state))->Find(configuration)->times, 2);
  state.Put({{1, 8, true, {}, 0}}, again);
  EXPECT_EQ(state.measured.size(), 2u);
}

TEST(TuneState, OfAnEnsemble) {
  TuneState state = Some();
  state.models.push_back(state.models[0]);
  state.ensemble = state.models[0];
  state.measured[0].configuration.push_back({1, 0, false, {}, 0});
  const auto read = ParseTuneState(TuneStateJson(state));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(TuneStateJson(*read), TuneStateJson(state));
  EXPECT_NE(read->Find({{2, 8, true, {4, 8}, 500, {2}}, {1, 0, false, {}, 0}}), nullptr);
}

TEST(TuneState, TheFileBelongsToOneModelAndItsOptions) {
  const auto folder = TempDirectory::Make();
  ASSERT_TRUE(folder.ok());
  const std::string file = (*folder)->path() + "/state";
  EXPECT_TRUE(LoadTuneState(file, "k")->models.empty());
  EXPECT_EQ(LoadTuneState("", "k")->key, "k");
  ASSERT_TRUE(SaveTuneState(file, Some()).ok());
  EXPECT_EQ(TuneStateJson(*LoadTuneState(file, Some().key)), TuneStateJson(Some()));
  EXPECT_THAT(LoadTuneState(file, "k").status().message(), HasSubstr("other options; remove it"));
  Write(file, "nonsense");
  EXPECT_THAT(LoadTuneState(file, "k").status().message(), HasSubstr("it is not a state file"));
  EXPECT_THAT(SaveTuneState("/nowhere/state", Some()).message(), HasSubstr("cannot write"));
}

TEST(LoadErrorOf, IsTheOneThatSaysMost) {
  EXPECT_EQ(LoadErrorOf("I1 1 a.cc:1] \"good\"\nE1 1 m.cc:2] \"failed to load 'm': no file\"\n"
                        "E1 1 main.cc:3] \"failed to load all models: m\"\n"),
            "failed to load 'm': no file");
  EXPECT_EQ(LoadErrorOf("E1 1 a.cc:1] \"one\"\nE1 1 a.cc:1] \"two\"\n"), "two");
  EXPECT_EQ(LoadErrorOf(""), "");
}

TEST(ConfigFile, IsReplacedAndKept) {
  const auto folder = TempDirectory::Make();
  ASSERT_TRUE(folder.ok());
  const std::string& path = (*folder)->path();
  EXPECT_EQ(*ReadConfigFile(path, true), "");
  ASSERT_TRUE(ReplaceConfigFile(path, "new").ok());
  EXPECT_EQ(Text(path + "/config.pbtxt"), "new");
  EXPECT_FALSE(std::filesystem::exists(path + "/config.pbtxt.before-tune"));
  ASSERT_TRUE(ReplaceConfigFile(path, "newer").ok());
  EXPECT_EQ(Text(path + "/config.pbtxt"), "newer");
  EXPECT_EQ(Text(path + "/config.pbtxt.before-tune"), "new");
  EXPECT_EQ(*ReadConfigFile(path, true), "newer");
  EXPECT_THAT(ReadConfigFile(path + "/none", false).status().message(), HasSubstr("no folder"));
}

TEST(ConfigFile, StaysAsItIsIfItCannotBeReplaced) {
  const auto folder = TempDirectory::Make();
  ASSERT_TRUE(folder.ok());
  const std::string& path = (*folder)->path();
  Write(path + "/config.pbtxt", "old");
  std::filesystem::create_directories(path + "/config.pbtxt.before-tune/in the way");
  EXPECT_THAT(ReplaceConfigFile(path, "new").message(), HasSubstr("cannot replace"));
  EXPECT_EQ(Text(path + "/config.pbtxt"), "old");
}

}  // namespace
}  // namespace nereid
