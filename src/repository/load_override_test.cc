// SPDX-License-Identifier: Apache-2.0
#include "repository/load_override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace nereid {
namespace {

using Type = LoadParameter::Type;

std::string ReadError(const std::vector<LoadParameter>& parameters) {
  return std::string(ReadLoadParameters(parameters).status().message());
}

TEST(LoadOverrideTest, ReadsConfigurationAndFiles) {
  const auto override = ReadLoadParameters(
      {{"config", Type::kString, "{}"}, {"file:1/model.onnx", Type::kBytes, "bytes"}});
  ASSERT_TRUE(override.ok());
  EXPECT_EQ(override->config_json, "{}");
  EXPECT_EQ(override->files.at("file:1/model.onnx"), "bytes");
  EXPECT_TRUE(ReadLoadParameters({})->empty());
}

TEST(LoadOverrideTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ReadError({{"other", Type::kInt, ""}}),
            "Unrecognized load parameter 'other' with type 'INT'");
  EXPECT_EQ(ReadError({{"config", Type::kBool, ""}}),
            "Config parameter 'config' must have string type for its value");
  EXPECT_EQ(ReadError({{"file:a", Type::kString, ""}}),
            "File parameter 'file:a' must have bytes type for its value");
  EXPECT_EQ(ReadError({{"file:a", Type::kBytes, ""}}),
            "Load parameter 'config' must be specified for model file override");
}

TEST(LoadOverrideTest, TheFilesAreAllThatTheDirectoryHolds) {
  std::string path;
  {
    const auto directory = MakeModelDirectory({{"file:1/model.onnx", "one"},
                                               {"file:1/./sub/../x", "two"},
                                               {"file:/2/model.py", "three"}});
    ASSERT_TRUE(directory.ok()) << directory.status();
    path = (*directory)->path();
    std::ostringstream text;
    text << std::ifstream(path + "/1/model.onnx").rdbuf();
    EXPECT_EQ(text.str(), "one");
    EXPECT_TRUE(std::filesystem::exists(path + "/1/x"));
    EXPECT_TRUE(std::filesystem::exists(path + "/2/model.py"))
        << "a slash in front means the folder";
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "it goes with its owner";
}

TEST(LoadOverrideTest, PathsStayInside) {
  for (const char* bad :
       {"file:../x", "file:1/../../x", "file:/../x", "file:", "file:/", "file:.", "file:1/"}) {
    const absl::Status status = MakeModelDirectory({{bad, ""}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  for (const std::string& bad : {std::string("file:1/a\0b", 10), std::string("file:1/a\nb"),
                                 std::string("file:1/\xff"), std::string("file:\x1b[31m")}) {
    EXPECT_THAT(std::string(MakeModelDirectory({{bad, ""}}).status().message()),
                testing::StartsWith("invalid file parameter 'file:"));
  }
  EXPECT_EQ(MakeModelDirectory({{"file:1/../../x", ""}}).status().message(),
            "Invalid file parameter 'file:1/../../x' with normalized path '../x' must stay within "
            "model directory.");
}

TEST(LoadOverrideTest, AFileIsNoDirectory) {
  EXPECT_EQ(MakeModelDirectory({{"file:1", ""}, {"file:1/model", ""}}).status().message(),
            "Invalid file parameter 'file:1/model', directory has been created as a file");
}

}  // namespace
}  // namespace nereid
