// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/model_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace nereid_backend {
namespace {

constexpr const char* kNames[] = {"model.one", "model.two"};

class FindModelFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_.name = "m";
    config_.version = 3;
    config_.directory = ::testing::TempDir() + "find_model_file_test";
    std::filesystem::remove_all(config_.directory);
    std::filesystem::create_directories(config_.directory + "/3");
  }
  std::string Path(const std::string& name) const { return config_.directory + "/3/" + name; }
  void Add(const std::string& name) { std::ofstream(Path(name)) << "x"; }
  std::string Found(const char* hint = "") {
    Result<std::filesystem::path> found = FindModelFile(config_, kNames, hint);
    if (found.ok()) return found->string();
    EXPECT_EQ(found.error().code(), TRITONSERVER_ERROR_UNAVAILABLE);
    return found.error().message();
  }

  ModelConfig config_;
};

TEST_F(FindModelFileTest, TheFirstOfTheNamesThatExists) {
  EXPECT_EQ(Found("; see the manual"),
            "unable to find '" + Path("model.one") + "' for model 'm'; see the manual");
  std::filesystem::create_directory(Path("model.two"));
  EXPECT_EQ(Found(), Path("model.two"));
  Add("model.one");
  EXPECT_EQ(Found(), Path("model.one"));
}

TEST_F(FindModelFileTest, TheNameInTheConfigurationAlone) {
  Add("model.one");
  config_.default_model_filename = "other";
  EXPECT_EQ(Found("; see the manual"), "unable to find '" + Path("other") + "' for model 'm'");
  Add("other");
  EXPECT_EQ(Found(), Path("other"));
}

}  // namespace
}  // namespace nereid_backend
