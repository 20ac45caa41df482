// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/model_config.h"

#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

constexpr const char* kConfig = R"({
  "name": "m", "max_batch_size": 8, "default_model_filename": "net.onnx",
  "input": [{"name": "X", "data_type": "TYPE_FP32", "dims": ["-1", 3], "reshape": {"shape": []}},
            {"name": "O", "data_type": "TYPE_STRING", "dims": [1], "optional": true}],
  "output": [{"name": "Y", "data_type": "TYPE_BF16", "dims": [2]}],
  "sequence_batching": {
    "control_input": [{"name": "START", "control": [{"fp32_false_true": [0, 1]}]},
                      {"name": "ID", "control": [{"kind": "CONTROL_SEQUENCE_CORRID", "data_type": "TYPE_UINT64"}]}],
    "state": [{"input_name": "SI", "output_name": "SO", "data_type": "TYPE_INT32", "dims": [4]}]},
  "model_transaction_policy": {"decoupled": true},
  "parameters": {"n": {"string_value": "5"}, "on": {"string_value": "True"},
                 "bad": {"string_value": "x"}}})";

TEST(ModelConfigTest, ReadsTheFields) {
  Result<ModelConfig> config = ParseModelConfig(kConfig);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->name, "m");
  EXPECT_EQ(config->max_batch_size, 8);
  EXPECT_EQ(config->default_model_filename, "net.onnx");
  ASSERT_EQ(config->inputs.size(), 2u);
  EXPECT_EQ(config->inputs[0].type, TRITONSERVER_TYPE_FP32);
  EXPECT_EQ(config->inputs[0].dims, (Shape{-1, 3}));
  EXPECT_EQ(config->inputs[0].model_dims(), Shape{});
  EXPECT_EQ(config->inputs[1].type, TRITONSERVER_TYPE_BYTES);
  EXPECT_TRUE(config->inputs[1].optional);
  EXPECT_EQ(config->FindOutput("Y")->type, TRITONSERVER_TYPE_BF16);
  EXPECT_EQ(config->FindOutput("X"), nullptr);
  ASSERT_EQ(config->controls.size(), 2u);
  EXPECT_EQ(config->controls[0].input, "START");
  EXPECT_EQ(config->controls[0].kind, "CONTROL_SEQUENCE_START");
  EXPECT_EQ(config->controls[0].type, TRITONSERVER_TYPE_FP32);
  EXPECT_EQ(config->controls[1].input, "ID");
  EXPECT_EQ(config->controls[1].kind, "CONTROL_SEQUENCE_CORRID");
  EXPECT_EQ(config->controls[1].type, TRITONSERVER_TYPE_UINT64);
  ASSERT_EQ(config->states.size(), 1u);
  EXPECT_EQ(config->states[0].output_name, "SO");
  EXPECT_TRUE(config->decoupled);
}

TEST(ModelConfigTest, NumbersAreChecked) {
  EXPECT_EQ(*ParseInt("n", "5", 0, 5), 5);
  Result<int64_t> above = ParseInt("n", "5", 0, 4);
  ASSERT_FALSE(above.ok());
  EXPECT_STREQ(above.error().message(), "n must be an integer from 0 to 4, got '5'");
  EXPECT_FALSE(ParseInt("n", "5x", 0, 9).ok());
}

TEST(ModelConfigTest, CountsInstances) {
  const auto count = [](const std::string& groups) {
    return ParseModelConfig(R"({"instance_group":[)" + groups + "]}")->InstanceCount();
  };
  EXPECT_EQ(count(""), 1);
  EXPECT_EQ(count(R"({"count":2},{})"), 3);
  EXPECT_EQ(count(R"({"count":2000000000},{"count":2000000000})"), INT16_MAX);
}

TEST(ModelConfigTest, OperatorLibrariesOfTheModelsFolder) {
  Result<ModelConfig> config =
      ParseModelConfig(R"({"model_operations":{"op_library_filename":["a.so","/b.so"]}})");
  config->directory = "/m";
  EXPECT_EQ(config->OperatorLibraries(), (std::vector<std::string>{"/m/a.so", "/b.so"}));
}

TEST(ModelConfigTest, TypeNamesGoBothWays) {
  for (const char* name : {"TYPE_BOOL", "TYPE_UINT8", "TYPE_FP16", "TYPE_BF16", "TYPE_STRING"}) {
    EXPECT_EQ(ConfigTypeName(ConfigTypeFromName(name)), name);
  }
  EXPECT_EQ(ConfigTypeFromName("TYPE_INVALID"), TRITONSERVER_TYPE_INVALID);
  EXPECT_EQ(ConfigTypeFromName("FP32"), TRITONSERVER_TYPE_INVALID);
  EXPECT_EQ(ShapeToString(Shape{2, -1}), "[2,-1]");
}

}  // namespace
}  // namespace nereid_backend
