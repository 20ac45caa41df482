// SPDX-License-Identifier: Apache-2.0
// Whole configurations, from text to CompiledModel, against files: tests/golden/config/x.pbtxt is
// the configuration of a model "x", x.expected its JSON or the error. To accept what has changed,
// run this test with NEREID_UPDATE_GOLDEN=1 in the environment and read the difference.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "config/load_config.h"
#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

// The compiled configuration of a model that has one version and no file that tells a backend.
std::string Outcome(const std::string& model, const std::string& text) {
  FakeFileSystem fs;
  fs.MakeDirectory("/models/" + model + "/1");
  fs.WriteFile("/models/" + model + "/config.pbtxt", text);
  ConfigSource source;
  source.model_dir = "/models/" + model;
  source.expected_name = model;
  source.auto_complete = false;
  absl::StatusOr<ParsedConfig> config = LoadModelConfig(fs, source);
  absl::Status status = config.status();
  if (status.ok()) status = config->NormalizeInstanceGroups({});
  if (status.ok()) {
    const absl::StatusOr<CompiledModel> compiled = config->Compile(1);
    if (compiled.ok()) return absl::StrCat(compiled->json, "\n");
    status = compiled.status();
  }
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message(), "\n");
}

class GoldenTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenTest, Config) {
  const std::string actual = Outcome(GetParam().stem(), ReadAll(GetParam()));
  std::filesystem::path expected = GetParam();
  expected.replace_extension(".expected");
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << actual;
  EXPECT_EQ(actual, ReadAll(expected));
}

std::vector<std::filesystem::path> Configs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(NEREID_GOLDEN_DIR)) {
    if (entry.path().extension() == ".pbtxt") paths.push_back(entry.path());
  }
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, ::testing::ValuesIn(Configs()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace nereid
