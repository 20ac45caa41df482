// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/version_files.h"

#include <gtest/gtest.h>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

class ModelFingerprintTest : public testing::Test {
 protected:
  ModelFingerprintTest() {
    model_.name = "m";
    model_.version = 3;
    model_.json = "{}";
    files_.WriteFile("/models/m/3/model.onnx", "weights");
    files_.WriteFile("/models/m/3/more/data", "data");
    files_.WriteFile("/models/m/2/model.onnx", "old");
  }
  std::string Print() const { return ModelFingerprint(files_, "/models/m", model_); }

  FakeFileSystem files_;
  CompiledModel model_;
};

TEST_F(ModelFingerprintTest, StaysWhereNothingChanges) {
  const std::string print = Print();
  EXPECT_EQ(Print(), print);
  files_.WriteFile("/models/m/2/model.onnx", "another version");
  EXPECT_EQ(Print(), print);
}

TEST_F(ModelFingerprintTest, ChangesWithConfigurationAndFiles) {
  std::string print = Print();
  const auto changes = [&] {
    const std::string before = print;
    print = Print();
    return print != before;
  };
  model_.json = R"({"parameters":{}})";
  EXPECT_TRUE(changes());
  files_.WriteFile("/models/m/3/model.onnx", "WEIGHTS");
  EXPECT_TRUE(changes()) << "another time, the same size";
  files_.WriteFile("/models/m/3/more/data", "other data");
  EXPECT_TRUE(changes());
  files_.WriteFile("/models/m/3/more/new", "");
  EXPECT_TRUE(changes());
  files_.Remove("/models/m/3/more");
  EXPECT_TRUE(changes());
  files_.Remove("/models/m/3");
  EXPECT_TRUE(changes());
  model_.json = "{}";
  EXPECT_TRUE(changes());
}

}  // namespace
}  // namespace nereid
