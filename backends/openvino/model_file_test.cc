// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

class ModelFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_.name = "m";
    config_.version = 1;
    config_.directory = ::testing::TempDir() + "model_file_test";
    std::filesystem::remove_all(config_.directory);
    std::filesystem::create_directories(Path(""));
  }
  std::string Path(const std::string& name) const {
    return (std::filesystem::path(config_.directory) / "1" / name).string();
  }
  void Add(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << "x";
  }
  std::string Found() {
    Result<std::string> found = FindModelFile(config_);
    return found.ok() ? *found : std::string("error: ") + found.error().message();
  }

  ModelConfig config_;
};

TEST_F(ModelFileTest, TheFirstOfTheKnownNames) {
  EXPECT_THAT(Found(),
              HasSubstr("error: unable to find '" + Path("model.xml") + "' for model 'm'"));
  Add("model.tflite");
  EXPECT_EQ(Found(), Path("model.tflite"));
  Add("model.savedmodel/saved_model.pb");
  EXPECT_EQ(Found(), Path("model.savedmodel"));
  Add("model.onnx");
  EXPECT_EQ(Found(), Path("model.onnx"));
  Add("model.xml");
  EXPECT_EQ(Found(), Path("model.xml"));
}

TEST_F(ModelFileTest, TheNameInTheConfigurationAlone) {
  Add("model.xml");
  config_.default_model_filename = "other.onnx";
  EXPECT_EQ(Found(), "error: unable to find '" + Path("other.onnx") + "' for model 'm'");
  Add("other.onnx");
  EXPECT_EQ(Found(), Path("other.onnx"));
}

TEST_F(ModelFileTest, Folders) {
  config_.default_model_filename = "saved_model.pb";
  Add("saved_model.pb");
  EXPECT_EQ(Found(), Path("").substr(0, Path("").size() - 1)) << "a SavedModel is its folder";
  config_.default_model_filename = "model.onnx";
  Add("model.onnx/model.onnx");
  EXPECT_EQ(Found(), Path("model.onnx/model.onnx"));
  config_.default_model_filename = "model.xml";
  Add("model.xml/something");
  EXPECT_EQ(Found(), "error: unable to load model 'm': '" + Path("model.xml") +
                         "' is a folder without saved_model.pb");
}

}  // namespace
}  // namespace nereid_backend
