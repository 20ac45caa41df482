// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

Result<Parameters> Read(const std::string& key, const std::string& value) {
  Result<ModelConfig> config =
      ParseModelConfig(R"({"parameters":{")" + key + R"(":{"string_value":")" + value + R"("}}})");
  config->name = "m";
  return Parameters::FromConfig(*config);
}

TEST(ParametersTest, Defaults) {
  const Result<Parameters> parameters = Read("OTHER", "1");
  ASSERT_TRUE(parameters.ok());
  EXPECT_TRUE(parameters->inference_mode);
  EXPECT_TRUE(parameters->optimized_execution);
  EXPECT_EQ(parameters->intra_op_threads, 0);
  EXPECT_FALSE(parameters->share_module.has_value());
}

TEST(ParametersTest, Values) {
  EXPECT_FALSE(Read("INFERENCE_MODE", "Off")->inference_mode);
  EXPECT_FALSE(Read("DISABLE_OPTIMIZED_EXECUTION", "true")->optimized_execution);
  EXPECT_EQ(Read("INTRA_OP_THREAD_COUNT", "3")->intra_op_threads, 3);
  EXPECT_EQ(Read("INTER_OP_THREAD_COUNT", "-1")->inter_op_threads, 0);
  EXPECT_EQ(Read("ENABLE_WEIGHT_SHARING", "0")->share_module, false);
  EXPECT_EQ(Read("ENABLE_TENSOR_FUSER", "ON")->tensor_fuser, true);
  EXPECT_TRUE(Read("INFERENCE_MODE", "yes")->inference_mode);
}

// Triton reads these in its Python runtime, where they say the same of a CPU.
TEST(ParametersTest, OtherNamesOfThreads) {
  EXPECT_EQ(Read("NUM_THREADS", "3")->intra_op_threads, 3);
  EXPECT_EQ(Read("NUM_INTEROP_THREADS", "2")->inter_op_threads, 2);
  EXPECT_EQ(
      Read("NUM_THREADS", "3\"},\"INTRA_OP_THREAD_COUNT\":{\"string_value\":\"5")->intra_op_threads,
      5);
}

TEST(ParametersTest, BadValues) {
  Result<Parameters> parameters = Read("INFERENCE_MODE", "maybe");
  ASSERT_FALSE(parameters.ok());
  EXPECT_THAT(parameters.error().message(), HasSubstr("'INFERENCE_MODE' of model 'm'"));
  EXPECT_FALSE(Read("INTRA_OP_THREAD_COUNT", "5abc").ok());
  EXPECT_FALSE(Read("INTER_OP_THREAD_COUNT", "5000").ok());
}

}  // namespace
}  // namespace nereid_backend
