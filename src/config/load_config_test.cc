// SPDX-License-Identifier: Apache-2.0
#include "config/load_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

class LoadConfigTest : public ::testing::Test {
 protected:
  LoadConfigTest() {
    fs_.MakeDirectory("/r/m/1");
    source_.model_dir = "/r/m";
    source_.expected_name = "m";
  }

  absl::StatusOr<ParsedConfig> Load() { return LoadModelConfig(fs_, source_); }

  FakeFileSystem fs_;
  ConfigSource source_;
};

TEST_F(LoadConfigTest, ReadsCompletesAndNormalises) {
  fs_.WriteFile("/r/m/config.pbtxt", "max_batch_size: 4 dynamic_batching { }");
  fs_.WriteFile("/r/m/1/model.onnx", "");
  const ParsedConfig config = Load().value();
  EXPECT_EQ(config.name(), "m");
  EXPECT_EQ(config.backend(), "onnxruntime");
  EXPECT_THAT(config.Json(), HasSubstr(R"("preferred_batch_size":[4])"));
}

TEST_F(LoadConfigTest, NamedConfigurationIsPreferredWhereItExists) {
  source_.model_config_name = "h100";
  fs_.WriteFile("/r/m/config.pbtxt", "backend: 'usual'");
  EXPECT_EQ(Load().value().backend(), "usual");
  fs_.WriteFile("/r/m/configs/h100.pbtxt", "backend: 'special'");
  EXPECT_EQ(Load().value().backend(), "special");
}

TEST_F(LoadConfigTest, OverrideReplacesTheFile) {
  fs_.WriteFile("/r/m/config.pbtxt", "not even valid");
  source_.override_json = R"({"backend":"b"})";
  EXPECT_EQ(Load().value().backend(), "b");
  source_.override_json = "{";
  EXPECT_TRUE(absl::IsInvalidArgument(Load().status()));
  EXPECT_THAT(std::string(Load().status().message()),
              ::testing::StartsWith("Invalid config override: "));
}

TEST_F(LoadConfigTest, MissingFileIsAnEmptyConfigurationOnlyWithAutoComplete) {
  fs_.WriteFile("/r/m/1/model.onnx", "");
  ParsedConfig config = Load().value();
  EXPECT_EQ(config.platform(), "onnxruntime_onnx");
  ASSERT_EQ(config.NormalizeInstanceGroups({}), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(config.Compile(1).status()));

  source_.auto_complete = false;
  EXPECT_EQ(Load().status(),
            absl::NotFoundError("failed to open text file for read /r/m/config.pbtxt: No such file "
                                "or directory"));
}

TEST_F(LoadConfigTest, UnreadableFileIsAnErrorEvenWithAutoComplete) {
  fs_.WriteFile("/r/m/config.pbtxt", "");
  fs_.Fail("/r/m/config.pbtxt", absl::PermissionDeniedError("denied"));
  EXPECT_EQ(Load().status(), absl::PermissionDeniedError("denied"));
}

TEST_F(LoadConfigTest, SyntaxErrorsNameTheFile) {
  fs_.WriteFile("/r/m/config.pbtxt", "\nnam: 'm'");
  EXPECT_EQ(Load().status(),
            absl::InvalidArgumentError("/r/m/config.pbtxt:2:1: Message type "
                                       "\"inference.ModelConfig\" has no field named \"nam\". (did "
                                       "you mean 'name'?)"));
}

TEST_F(LoadConfigTest, DirectoryAndNameMustAgree) {
  fs_.WriteFile("/r/m/config.pbtxt", "name: 'n' backend: 'b'");
  EXPECT_EQ(Load().status(),
            absl::InvalidArgumentError("unexpected directory name 'm' for model 'n', directory "
                                       "name must equal model name"));
}

TEST_F(LoadConfigTest, TensorsAreCheckedAtOnceOnlyWithoutAutoComplete) {
  fs_.WriteFile("/r/m/config.pbtxt", "backend: 'b' input { name: 'I' data_type: TYPE_FP32 }");
  EXPECT_TRUE(Load().ok());
  source_.auto_complete = false;
  EXPECT_EQ(Load().status(), absl::InvalidArgumentError(
                                 "model input 'I' must specify 'dims' for m (input[0].dims: "
                                 "the shape without the batch dimension; [ 1 ] for scalars)"));
}

TEST_F(LoadConfigTest, FiveMistakesAreFiveProblems) {
  source_.auto_complete = false;
  fs_.WriteFile("/r/m/config.pbtxt",
                "backend: 'b' max_batch_size: -1 "
                "dynamic_batching { preferred_batch_size: [ 0 ] } "
                "input { name: 'I' dims: [ 0 ] } "
                "metric_tags { key: 'my-team' value: 'v' }");
  EXPECT_EQ(
      Load().status().message(),
      "the configuration of model 'm' has 5 problems:\n"
      "  1. 'max_batch_size' must be non-negative value for m (max_batch_size: got -1; 0 is "
      "for models without a batch dimension)\n"
      "  2. dynamic batching preferred size must be positive for m "
      "(dynamic_batching.preferred_batch_size[0]: got 0)\n"
      "  3. metric tag 'my-team' is no name for a label (metric_tags: letters, digits and "
      "underscores, and no underscore at its beginning)\n"
      "  4. model input 'I' must specify 'data_type' for m (input[0].data_type: for instance "
      "TYPE_FP32)\n"
      "  5. model input 'I' dimension must be integer >= 1, or -1 to indicate a variable-size "
      "dimension for m (input[0].dims[0]: got 0)");
}

}  // namespace
}  // namespace nereid
